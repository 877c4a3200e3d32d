import {
  createResumable,
  newTailKey,
  type ResumableState,
  type ResumableUpload,
  removeResumable,
} from '@echodrop/archive/resumable-uploads';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { isTemporary } from '@echodrop/contracts/refusals';
import { detectMediaType } from '@echodrop/media/detect-media-type';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { newStagedWrite, type StagedWrite } from '@echodrop/object-store/staged-write';
import { newMediaId } from '@echodrop/record';
import type { ApiKeys } from '../admit/api-keys.ts';
import { idempotencyKeyOf, type OncePublisher, type Published } from '../idempotency/idempotency.ts';
import type { Publisher } from '../publish/publish.ts';
import { requireParameters } from '../receive/complete-upload.ts';
import { requireFittingAlt } from '../receive/form-content.ts';
import type { FormSettings } from '../receive/receive-form.ts';
import { Refusal } from '../response/refusal.ts';
import { announcedDigest, receiveBytes } from './receive-bytes.ts';
import type { AdmittedRequest, LeasedRequest } from './tus-request.ts';
import { parametersOfMetadata } from './upload-metadata.ts';
import { endIfLost, endUpload, type StateDeps, savePublished, saveState } from './upload-state.ts';

export interface ResumableDeps extends StateDeps {
  readonly forms: FormSettings;
  readonly publisher: OncePublisher;
  readonly records: Pick<Publisher, 'find'>;
  readonly apiKeys: ApiKeys;
}

/**
 * Creates an upload under `id`, with the parameters of `Upload-Metadata`.
 * @throws Refusal for missing or malformed parameters, blocks and limits; StoreUnavailable
 */
export async function createUpload(
  { context, caller, admitted }: AdmittedRequest,
  id: string,
  length: number | undefined,
  { store, forms, apiKeys, expiryMs }: ResumableDeps,
): Promise<ResumableUpload> {
  const { headers } = context.request;
  const metadata = headers['upload-metadata']?.toString() ?? '';
  const fields = parametersOfMetadata(metadata);
  requireFittingAlt(fields.get('alt') ?? '');
  const media = length === 0 ? undefined : true;
  const { message, alt, application } = requireParameters(
    { fields, media, files: new Set() },
    apiKeys,
    forms.compatibility,
  );
  const idempotencyKey = idempotencyKeyOf(headers);
  await admitted.admitApplication(application);
  const mediaKey = newMediaKey();
  return createResumable(store, id, {
    expires: new Date(Date.now() + expiryMs),
    provider: caller.provider,
    subject: caller.subject,
    ...{ application, message, alt, metadata, idempotencyKey, length, mediaKey },
    head: '',
    write: newStagedWrite(mediaObjectKey(mediaKey), 'application/octet-stream'),
    isPublished: false,
  });
}

/** Declares the length of an upload that has none. */
export async function declareLength(request: LeasedRequest, length: number, deps: ResumableDeps): Promise<void> {
  await saveState(request, { length }, deps);
}

/**
 * Adds the body of the request. What has arrived when it ends early is kept, unless the request has a checksum.
 * @throws Refusal, ClientGone, StateConflict, StoreUnavailable
 */
export async function appendBody(request: LeasedRequest, deps: ResumableDeps): Promise<void> {
  const { context, lease, upload } = request;
  const { store, forms } = deps;
  const { write, length = forms.maxMediaBytes, head: earlier } = upload.state;
  const digest = announcedDigest(context.request.headers);
  let head = Buffer.from(earlier, 'base64');
  const onChunk = (chunk: Buffer) => {
    digest?.hash.update(chunk);
    if (head.length < probeHeadBytes) head = Buffer.concat([head, chunk.subarray(0, probeHeadBytes - head.length)]);
  };
  const limits = {
    maxBytes: length - write.size,
    minBytesPerSecond: forms.minBytesPerSecond,
    maxSeconds: forms.maxUploadSeconds,
  };
  context.sendContinue();
  const { source, isSilent } = receiveBytes(context.request, limits, onChunk);
  lease.isIdle = isSilent;
  const save = (next: StagedWrite) =>
    saveState(request, { write: next, head: head.subarray(0, next.size).toString('base64') }, deps);
  const contentLength = context.request.headers['content-length'];
  const maxBytes = contentLength === undefined ? undefined : Number(contentLength);
  const options = { signal: lease.signal, maxBytes, newTailKey: () => newTailKey(upload.id), save };
  try {
    await endIfLost(request, deps, () =>
      store.append(write, source, { ...options, ...(digest && { verify: digest.verify }) }),
    );
  } finally {
    // A call that fails before it reads does not end it.
    source.destroy();
  }
}

/** Whether all bytes have arrived. */
export function isComplete({ length, write }: ResumableState): boolean {
  return write.size === length;
}

/**
 * Publishes a complete upload as version 2 does, or finds its record if that was done. A refusal for good ends the upload, and removes its bytes.
 * @throws Refusal, ClientGone, StateConflict, or the failure of a dependency
 */
export async function publishUpload(request: LeasedRequest, deps: ResumableDeps): Promise<Published> {
  const { store, publisher } = deps;
  const { context, caller, admitted } = request;
  const { application, message, alt, mediaKey: key, write, idempotencyKey, head: encodedHead } = request.upload.state;
  const isFirstTry = request.upload.state.mediaId === undefined;
  // Before it is used: a request that dies leaves it to the next one.
  if (isFirstTry) await saveState(request, { mediaId: newMediaId() }, deps);
  const { mediaId = '' } = request.upload.state;
  const earlier = isFirstTry ? undefined : await deps.records.find(mediaId, request.upload.state);
  if (earlier) {
    await savePublished(request, earlier, deps);
    return { record: earlier, isRepeat: true };
  }
  const head = Buffer.from(encodedHead, 'base64');
  const type = detectMediaType(head);
  await admitted.admitMedia(type);
  await admitted.admitApplication(application, false);
  const stored = await endIfLost(request, deps, () => store.completeWrite(write));
  let isCommitted = false;
  const commit = () => {
    isCommitted = true;
  };
  const media = { key, size: stored.size, head, type, commit };
  const upload = { message, alt, application, caller, media, stored, mediaId };
  try {
    const published = await publisher.publish(upload, idempotencyKey, context);
    await savePublished(request, published.record, deps);
    if (published.record.mediaKey !== key)
      await store.remove(mediaObjectKey(key)).catch(() => deps.forms.onOrphan(key));
    return published;
  } catch (error) {
    if (error instanceof Refusal && !isTemporary(error.reason))
      await endUpload(request, store, isFirstTry && !isCommitted);
    throw error;
  }
}

/** Removes an unpublished upload with its bytes. @throws Refusal `upload_published`; StoreUnavailable */
export async function terminateUpload({ upload }: LeasedRequest, { store, records }: ResumableDeps): Promise<void> {
  const { isPublished, mediaId } = upload.state;
  // The request that published it may have died before it saved this.
  if (isPublished || (mediaId && (await records.find(mediaId, upload.state)))) throw new Refusal('upload_published');
  await removeResumable(store, upload.id, upload.state.write);
}
