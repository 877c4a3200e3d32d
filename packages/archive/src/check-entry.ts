import { findTwice } from '@echodrop/object-store/find-twice';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { faultOf, type StoreFinding } from './check-record.ts';
import { flatListingKeys, listingEntryOf, listingKeys, parseListingKey } from './listing-keys.ts';
import { tryFindRecord } from './records.ts';
import { isSettling } from './settling.ts';

/** Checks whether the listing entry at `key` has a published record. @throws StoreUnavailable */
export async function checkEntry(store: ObjectStore, key: string): Promise<StoreFinding[]> {
  if (await isEntryOfRecord(store, key)) return [];
  // A concurrent removal may have deleted it; nothing deletes an object with another key.
  const isStored = !parseListingKey(key) || (await store.stat(key));
  return isStored ? [faultOf(key, 'listing entry without a published upload. Run rebuild-listings.')] : [];
}

/** Whether the entry at `key` has a record, an unreadable one or that of a running removal included. @throws StoreUnavailable */
export async function isEntryOfRecord(store: ObjectStore, key: string): Promise<boolean> {
  const entry = parseListingKey(key);
  if (!entry) return false;
  const find = () => tryFindRecord(store, entry.id);
  // An upload writes its entries concurrently with the record, and may still retry the record.
  const mayFollow = isSettling(entry.published);
  const found = mayFollow ? await find() : await findTwice(store, find);
  if (!found) return mayFollow;
  if (found instanceof UnreadableRecord) return true;
  if (isTombstone(found)) return isSettling(found.removed.at);
  const listed = listingEntryOf(found);
  return [...listingKeys(listed), ...flatListingKeys(listed)].includes(key);
}
