import { Readable } from 'node:stream';
import { removeBelow } from '@echodrop/object-store/every-object';
import { mediaObject, recordObject, renditionsOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeTombstone, type StoredRecord, type Tombstone } from '@echodrop/record';
import { listedAs, strike } from './listing.ts';

/**
 * Takes an upload down: a tombstone takes the record's place, and from then on nothing of it is shown; then entries, media and
 * renditions go. What fails in between is done by `finishRemoval`.
 * @throws StoreUnavailable
 */
export async function removeMedia(
  store: ObjectStore,
  record: StoredRecord,
  removed: Tombstone['removed'],
): Promise<void> {
  const tombstone = { ...listedAs(record), mediaKey: record.mediaKey, removed };
  await store.put(recordObject(record.id), Readable.from([encodeTombstone(tombstone)]));
  await finishRemoval(store, tombstone);
}

/** Removes what a removal that was cut short has left; where it left nothing, nothing happens. @throws StoreUnavailable */
export async function finishRemoval(store: ObjectStore, tombstone: Tombstone): Promise<void> {
  await strike(store, tombstone);
  // The media goes first of the two: without it no rendition is made any more.
  await store.remove(mediaObject(tombstone.mediaKey));
  await removeBelow(store, renditionsOf(tombstone.mediaKey));
}
