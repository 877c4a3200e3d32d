import { listKeys } from '@echodrop/object-store/list-objects';
import { recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { ListingIndex } from './listing-index.ts';
import { flatListingKeys, listingEntryOf, listingKeys, listingPrefixes, parseListingKey } from './listing-keys.ts';
import { tryFindRecord } from './records.ts';
import { isSettling } from './settling.ts';
import type { StoreFault } from './store-finding.ts';

const concurrency = 16;

/** Checks whether the listing entry at `key` has a published record. @throws StoreUnavailable, or the signal's reason */
export async function checkEntry(store: ObjectStore, key: string, signal: AbortSignal): Promise<StoreFault[]> {
  if (await isEntryOfRecord(store, key, signal)) return [];
  // A concurrent removal may have deleted it; nothing deletes an object with another key.
  const isStored = !parseListingKey(key) || (await store.stat(key));
  return isStored ? [{ fault: 'lists_nothing', key }] : [];
}

/**
 * Removes the listing entries without a record, and entries of release 0.1.0 if their record is in `relisted`: those whose entries certainly
 * exist in folders. Yields the removed keys. @throws StoreUnavailable
 */
export async function* removeDeadEntries(store: ObjectStore, relisted = new ListingIndex()): AsyncGenerator<string> {
  const isAlive = async (key: string) =>
    relisted.hasKey(key) ? !parseListingKey(key)?.isFlat : isEntryOfRecord(store, key);
  const removeDead = async (key: string) => {
    if (await isAlive(key)) return undefined;
    await store.remove(key);
    return key;
  };
  for (const prefix of listingPrefixes)
    for await (const removed of pMapIterable(listKeys(store, prefix), removeDead, { concurrency }))
      if (removed !== undefined) yield removed;
}

/** Whether the entry at `key` has a record, an unreadable one or that of a running removal included. @throws StoreUnavailable, or the signal's reason */
async function isEntryOfRecord(store: ObjectStore, key: string, signal?: AbortSignal): Promise<boolean> {
  const entry = parseListingKey(key);
  if (!entry) return false;
  const found = await tryFindRecord(store, entry.id, signal);
  // An upload writes its entries concurrently with the record, and may still retry the record.
  if (!found) return isSettling(entry.published) || (await isListed(store, recordKey(entry.id)));
  if (found instanceof UnreadableRecord) return true;
  if (isTombstone(found)) return isSettling(found.removed.at);
  const listed = listingEntryOf(found);
  return [...listingKeys(listed), ...flatListingKeys(listed)].includes(key);
}

// A listed record that is not found may be found again soon (findListedRecord).
async function isListed(store: ObjectStore, key: string): Promise<boolean> {
  const [first] = await store.listKeys(recordsPrefix, { after: key.slice(0, -1), limit: 1 });
  return first === key;
}
