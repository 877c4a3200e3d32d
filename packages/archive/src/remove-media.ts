import { Readable } from 'node:stream';
import { removeObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, recordKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { encodeTombstone, isTombstone, type StoredRecord, type Tombstone } from '@echodrop/record';
import { removeFromListings } from './listing.ts';
import { listingEntryOf } from './listing-keys.ts';
import { findRecord } from './records.ts';

/** Hides an upload by replacing its record with a tombstone, then calls `finishRemoval`. @throws StoreUnavailable */
export async function removeMedia(
  store: ObjectStore,
  record: StoredRecord,
  removed: Tombstone['removed'],
): Promise<void> {
  const tombstone = { ...listingEntryOf(record), mediaKey: record.mediaKey, removed };
  const bytes = Readable.from([encodeTombstone(tombstone)]);
  await store.put(recordKey(record.id), bytes, { isReplacement: true });
  // If the store lost the tombstone, the record would reference missing media.
  const found = await findRecord(store, record.id);
  if (!found || !isTombstone(found)) throw new StoreUnavailable('tombstone missing after a confirmed write');
  await finishRemoval(store, tombstone);
}

/** Removes what an interrupted removal left behind, if anything. @throws StoreUnavailable */
export async function finishRemoval(store: ObjectStore, tombstone: Tombstone): Promise<void> {
  await removeFromListings(store, tombstone);
  // Media is removed first: without it no new renditions are made.
  await store.remove(mediaObjectKey(tombstone.mediaKey));
  await removeObjects(store, renditionsPrefixOf(tombstone.mediaKey));
}
