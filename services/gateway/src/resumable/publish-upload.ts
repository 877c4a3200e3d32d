import { ownerHash } from '@echodrop/archive/owner';
import { removeResumable } from '@echodrop/archive/resumable-uploads';
import { isTemporary } from '@echodrop/contracts/refusal-statuses-and-messages';
import { detectMediaType } from '@echodrop/media/detect-media-type';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import { newMediaId } from '@echodrop/record';
import type { Published } from '../idempotency/idempotency.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { ResumableDeps } from './resumable-deps.ts';
import type { LeasedRequest } from './tus-request.ts';
import { endIfLost, endUpload, savePublished, saveState } from './upload-state.ts';

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
  const stored = await endIfLost(request, deps, () => store.completeWrite(write, ownerHash(caller)));
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
