import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import { newTailKey, type ResumableState } from '@echodrop/archive/resumable-state';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { detectMediaType } from '@echodrop/media/detect-media-type';
import type { StagedWrite } from '@echodrop/object-store/staged-write';
import { refusalByType } from '../publish/unsupported-media.ts';
import { readBody } from '../receive/read-body.ts';
import { mediaTooLarge, Refusal } from '../response/refusal-error.ts';
import type { UploadContext } from '../upload-context.ts';
import type { LeasedRequest, OpenUpload, StateDeps } from './open-upload.ts';
import { announcedDigest, tusContentType } from './tus-headers.ts';

// A client that is silent for longer may be gone.
const silentMs = 1000;

/** Reads a chunked body of another type, which must be empty. @throws Refusal, ClientGone */
export async function requireNoBytes({ request, sendContinue }: UploadContext, { forms }: StateDeps): Promise<void> {
  if (request.headers['transfer-encoding'] === undefined) return;
  sendContinue();
  await readBody(request, { ...forms, maxBytes: 0, tooLarge: () => tusContentType(request.headers) }, () => {}).ended;
}

/** Refuses a body that is announced as longer than what the upload lacks. @throws Refusal `media_too_large` */
export function requireFittingBytes({ context }: LeasedRequest, { state }: OpenUpload, deps: StateDeps): void {
  const { maxBytes, tooLarge } = missingBytes(state, deps);
  if (Number(context.request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
}

/**
 * Adds the body of the request. What has arrived when it ends early is kept, unless the request has a checksum. Media of a type that is not
 * accepted ends the upload.
 * @throws Refusal, UploadRefusedPermanently, ClientGone, StateConflict, StoreUnavailable
 */
export async function appendBytes(request: LeasedRequest, upload: OpenUpload, deps: StateDeps): Promise<void> {
  const { context, caller, lease } = request;
  const { store, forms } = deps;
  const { write, head: earlier, idempotencyKey } = upload.state;
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
    // Until the checksum is compared, a changed byte may hide the type.
    if (!digest) requireSupported();
  };
  context.sendContinue();
  const limits = { ...forms, ...missingBytes(upload.state, deps) };
  const { source, isSilent } = readIncomingBytes(context.request, limits, onChunk);
  lease.isIdle = isSilent;
  const save = (next: StagedWrite) =>
    upload.save({ write: next, head: head.subarray(0, next.size).toString('base64') });
  const kept = { sender: ownerHash(caller), freesChunks: true };
  const options = { ...kept, signal: lease.signal, newTailKey: () => newTailKey(upload.id), save };
  try {
    requireSupported();
    await store.append(write, source, { ...options, ...(digest && { verify: digest.verify }) });
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'media_unsupported') await upload.end(error, false);
    await upload.endIfLost(error);
  } finally {
    // A call that fails before it reads does not end the source.
    source.destroy();
  }
}

function missingBytes({ length, write }: ResumableState, { forms: { maxMediaBytes } }: StateDeps) {
  const tooLarge = () =>
    length === undefined ? mediaTooLarge(maxMediaBytes) : new Refusal('media_too_large', { message: 'declared' });
  return { maxBytes: (length ?? maxMediaBytes) - write.size, tooLarge };
}

/**
 * The body of a request as a stream for the store, with the limits of `readBody`. `onChunk` gets each chunk first. The source fails as `readBody`
 * does. `isSilent`: whether the client has sent nothing for a second, although it could.
 */
export function readIncomingBytes(
  request: IncomingMessage,
  limits: Parameters<typeof readBody>[1],
  onChunk: (chunk: Buffer) => void,
) {
  let lastAt = performance.now();
  let isPaused = false;
  const source = new Readable({
    read() {
      isPaused = false;
      body.resume();
    },
    destroy(error, done) {
      body.stop(error);
      done(error);
    },
  });
  // The stream may fail before it is read, and an error without a listener ends the process. A later reader gets the error.
  source.on('error', () => {});
  const body = readBody(request, limits, (chunk) => {
    lastAt = performance.now();
    onChunk(chunk);
    if (source.push(chunk)) return;
    isPaused = true;
    body.pause();
  });
  body.ended.then(
    () => source.push(null),
    (error) => source.destroy(error ?? new Error('reading stopped')),
  );
  return { source, isSilent: () => !isPaused && performance.now() - lastAt > silentMs };
}
