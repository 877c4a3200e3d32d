import { ownerHash } from '@echodrop/archive/owner';
import { newTailKey, type ResumableState } from '@echodrop/archive/resumable-state';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { detectMediaType } from '@echodrop/media/detect-media-type';
import type { StagedWrite } from '@echodrop/object-store/staged-write';
import { refusalByType } from '../publish/unsupported-media.ts';
import { mediaTooLarge, Refusal } from '../response/refusal-error.ts';
import { announcedDigest, readIncomingBytes } from './incoming-bytes.ts';
import type { ResumableDeps } from './resumable-deps.ts';
import type { LeasedRequest } from './tus-request.ts';
import { endIfLost, endUpload, saveState } from './upload-state.ts';

/**
 * Adds the body of the request. What has arrived when it ends early is kept, unless the request has a checksum. Media of a type that is not
 * accepted ends the upload.
 * @throws Refusal, ClientGone, StateConflict, StoreUnavailable
 */
export async function appendBytes(request: LeasedRequest, deps: ResumableDeps): Promise<void> {
  const { context, lease, upload } = request;
  const { store, forms } = deps;
  const { write, length = forms.maxMediaBytes, head: earlier, idempotencyKey } = upload.state;
  const digest = announcedDigest(context.request.headers);
  let head = Buffer.from(earlier, 'base64');
  const requireSupported = () => {
    if (head.length < probeHeadBytes) return;
    const refusal = refusalByType(detectMediaType(head), { typesOff: forms.typesOff, idempotencyKey });
    if (refusal) throw refusal;
  };
  const onChunk = (chunk: Buffer) => {
    digest?.hash.update(chunk);
    if (head.length === probeHeadBytes) return;
    head = Buffer.concat([head, chunk.subarray(0, probeHeadBytes - head.length)]);
    // Before its checksum is compared, a changed byte may hide the type.
    if (!digest) requireSupported();
  };
  const limits = {
    maxBytes: length - write.size,
    tooLarge: () =>
      upload.state.length === undefined
        ? mediaTooLarge(forms.maxMediaBytes)
        : new Refusal('media_too_large', { message: 'declared' }),
    minBytesPerSecond: forms.minBytesPerSecond,
    maxSeconds: forms.maxUploadSeconds,
  };
  context.sendContinue();
  const { source, isSilent } = readIncomingBytes(context.request, limits, onChunk);
  lease.isIdle = isSilent;
  const save = (next: StagedWrite) =>
    saveState(request, { write: next, head: head.subarray(0, next.size).toString('base64') }, deps);
  const kept = { sender: ownerHash(request.caller), freesChunks: true };
  const options = { ...kept, signal: lease.signal, newTailKey: () => newTailKey(upload.id), save };
  try {
    requireSupported();
    await endIfLost(request, deps, () =>
      store.append(write, source, { ...options, ...(digest && { verify: digest.verify }) }),
    );
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'media_unsupported') await endUpload(request, store, false);
    throw error;
  } finally {
    // A call that fails before it reads does not end it.
    source.destroy();
  }
}

/** Whether all bytes have arrived. */
export function isComplete({ length, write }: ResumableState): boolean {
  return write.size === length;
}
