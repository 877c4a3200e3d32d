import { Readable } from 'node:stream';
import { removeObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, recordKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { encodeTombstone, isTombstone, type StoredRecord, type Tombstone } from '@echodrop/record';
import { findRecord } from './find-record.ts';
import { listingEntryOf, removeFromListings } from './listing.ts';

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
  const tombstone = { ...listingEntryOf(record), mediaKey: record.mediaKey, removed };
  const bytes = Readable.from([encodeTombstone(tombstone)]);
  await store.put(recordKey(record.id), bytes, { isReplacement: true });
  // Before media goes: the record would name what is no longer there.
  const found = await findRecord(store, record.id);
  if (!found || !isTombstone(found))
    throw new StoreUnavailable('the store has not kept the tombstone that it confirmed');
  await finishRemoval(store, tombstone);
}

/** Removes what a removal that was cut short has left; where it left nothing, nothing happens. @throws StoreUnavailable */
export async function finishRemoval(store: ObjectStore, tombstone: Tombstone): Promise<void> {
  await removeFromListings(store, tombstone);
  // The media goes first of the two: without it no rendition is made any more.
  await store.remove(mediaObjectKey(tombstone.mediaKey));
  await removeObjects(store, renditionsPrefixOf(tombstone.mediaKey));
}
