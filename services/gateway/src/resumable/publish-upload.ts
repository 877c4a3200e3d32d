import { ownerHash } from '@echodrop/archive/owner';
import { removeResumable } from '@echodrop/archive/resumable-uploads';
import { isTemporary } from '@echodrop/contracts/refusal-statuses-and-messages';
import { detectMediaType } from '@echodrop/media/detect-media-type';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import { newMediaId } from '@echodrop/record';
import type { OncePublisher, Published } from '../idempotency/idempotency.ts';
import type { Publisher } from '../publish/publish.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { LeasedRequest, OpenUpload, StateDeps } from './open-upload.ts';

export interface PublishDeps extends StateDeps {
  readonly publisher: OncePublisher;
  readonly records: Pick<Publisher, 'find'>;
}

/**
 * The record of a complete upload; undefined if bytes are missing. Publishes the upload if its earlier request died before that: the client may
 * take an upload for done if all bytes have arrived.
 * @throws as `publishUpload`; Refusal `not_found` if the user has deleted the record
 */
export async function publishIfComplete(
  request: LeasedRequest,
  upload: OpenUpload,
  deps: PublishDeps,
): Promise<Published | undefined> {
  const { length, write, isPublished, mediaId = '' } = upload.state;
  if (write.size !== length) return undefined;
  if (!isPublished) return publishUpload(request, upload, deps);
  const record = await deps.records.find(mediaId, upload.state);
  if (!record) throw new Refusal('not_found', { message: 'resumable' });
  return { record, isRepeat: true };
}

/**
 * Publishes a complete upload as version 2 does, or finds its record if that was done. A refusal for good ends the upload, and removes its bytes.
 * @throws Refusal, UploadRefusedPermanently, ClientGone, StateConflict, or the failure of a dependency
 */
async function publishUpload(
  { context, caller, admitted }: LeasedRequest,
  upload: OpenUpload,
  { store, forms, publisher, records }: PublishDeps,
): Promise<Published> {
  const { application, message, alt, mediaKey: key, write, idempotencyKey, head: encodedHead } = upload.state;
  const isFirstTry = upload.state.mediaId === undefined;
  // The id is saved before it is used: a request that dies leaves it to the next one.
  if (isFirstTry) await upload.save({ mediaId: newMediaId() });
  const { mediaId = '' } = upload.state;
  const earlier = isFirstTry ? undefined : await records.find(mediaId, upload.state);
  if (earlier) {
    await upload.savePublished(earlier);
    return { record: earlier, isRepeat: true };
  }
  const head = Buffer.from(encodedHead, 'base64');
  const type = detectMediaType(head);
  await admitted.admitMedia(type);
  await admitted.admitApplication(application, false);
  const stored = await store.completeWrite(write, ownerHash(caller)).catch((error) => upload.endIfLost(error));
  let isCommitted = false;
  const commit = () => {
    isCommitted = true;
  };
  const media = { key, head, type, commit };
  try {
    const complete = { message, alt, application, caller, media, stored, mediaId };
    const published = await publisher.publish(complete, idempotencyKey, context);
    await upload.savePublished(published.record);
    if (published.record.mediaKey !== key) await store.remove(mediaObjectKey(key)).catch(() => forms.onOrphan(key));
    return published;
  } catch (error) {
    if (error instanceof Refusal && !isTemporary(error.reason)) await upload.end(error, isFirstTry && !isCommitted);
    throw error;
  }
}

/** Removes an upload with its bytes. @throws Refusal `upload_published`; StoreUnavailable */
export async function removeUnpublished({ id, state }: OpenUpload, { store, records }: PublishDeps): Promise<void> {
  const { isPublished, mediaId, write } = state;
  // The request that published the upload may have died before it saved the finished state.
  if (isPublished || (mediaId && (await records.find(mediaId, state)))) throw new Refusal('upload_published');
  await removeResumable(store, id, write);
}
