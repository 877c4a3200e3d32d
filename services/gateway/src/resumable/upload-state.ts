import type { ResumableState } from '@echodrop/archive/resumable-state';
import { findResumable, removeResumable, StateConflict, saveResumable } from '@echodrop/archive/resumable-uploads';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StagedWriteLost } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import type { LRUCache } from 'lru-cache';
import { Refusal } from '../response/refusal-error.ts';
import type { LeasedRequest } from './tus-request.ts';

export interface StateDeps {
  readonly store: ObjectStore;
  /** The number of the last state of an upload that this process has seen, by id. */
  readonly lastStates: LRUCache<string, number>;
  /** How long an upload may take, from its creation. */
  readonly expiryMs: number;
}

/** Saves the next state of the upload of a request. @throws StateConflict, StoreUnavailable */
export async function saveState(
  request: LeasedRequest,
  change: Partial<ResumableState>,
  { store, lastStates }: StateDeps,
): Promise<void> {
  const { id, state } = request.upload;
  lastStates.delete(id);
  request.upload = await saveResumable(store, request.upload, { ...state, ...change });
  lastStates.set(id, request.upload.number);
}

/**
 * Keeps what finds the record, for as long as an upload may take: the client may not have received the response. No bytes of the media remain, and
 * no texts: the user may delete the record.
 */
export async function savePublished(request: LeasedRequest, record: StoredRecord, deps: StateDeps): Promise<void> {
  const { write } = request.upload.state;
  const expires = new Date(Date.now() + deps.expiryMs);
  const texts = { message: '', alt: undefined, metadata: '', idempotencyKey: undefined };
  const bytes = { head: '', write: { ...write, tails: [] } };
  await saveState(request, { mediaId: record.id, isPublished: true, expires, ...texts, ...bytes }, deps);
  await Promise.allSettled(write.tails.map(({ key }) => deps.store.remove(key)));
}

/** Removes an upload with its bytes, and with `withMedia` the object that publication would show. The sweep removes what remains. */
export async function endUpload(request: LeasedRequest, store: ObjectStore, withMedia: boolean): Promise<void> {
  const { upload } = request;
  request.hasEnded = true;
  const media = withMedia && store.remove(mediaObjectKey(upload.state.mediaKey));
  await Promise.allSettled([media, removeResumable(store, upload.id, upload.state.write)]);
}

/** @throws Refusal `upload_expired` in place of StagedWriteLost, after the upload was ended */
export async function endIfLost<T>(
  request: LeasedRequest,
  { store, lastStates }: StateDeps,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof StagedWriteLost)) throw error;
    // Perhaps another process has completed it since.
    const { id, number } = request.upload;
    if ((await findResumable(store, id))?.number !== number) {
      lastStates.delete(id);
      throw new StateConflict('not the last state', { cause: error });
    }
    await endUpload(request, store, false);
    throw new Refusal('upload_expired', { cause: error });
  }
}
