import { findTwice } from '@echodrop/object-store/find-twice';
import { listKeys } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { ListingIndex } from './listing-index.ts';
import { flatListingKeys, listingEntryOf, listingKeys, listingPrefixes, parseListingKey } from './listing-keys.ts';
import { tryFindRecord } from './records.ts';
import { isSettling } from './settling.ts';
import type { StoreFault } from './store-finding.ts';

// On S3, each entry without a record waits for a second look.
const concurrency = 64;

/** Checks whether the listing entry at `key` has a published record. @throws StoreUnavailable, or the signal's reason */
export async function checkEntry(store: ObjectStore, key: string, signal: AbortSignal): Promise<StoreFault[]> {
  if (await isEntryOfRecord(store, key, signal)) return [];
  // A concurrent removal may have deleted it; nothing deletes an object with another key.
  const isStored = !parseListingKey(key) || (await store.stat(key));
  return isStored ? [{ fault: 'lists_nothing', key }] : [];
}

/** What is known of records. */
interface KnownRecords {
  /** Those whose entries certainly exist in folders. */
  readonly relisted?: ListingIndex;
  /** The ids of those that the store lists and does not find. */
  readonly lost?: ReadonlySet<string>;
}

/**
 * Removes the listing entries without a record, and entries of release 0.1.0 if their record is in `relisted`. Yields the removed keys.
 * @throws StoreUnavailable
 */
export async function* removeDeadEntries(
  store: ObjectStore,
  { relisted = new ListingIndex(), lost = new Set() }: KnownRecords = {},
): AsyncGenerator<string> {
  const isAlive = async (key: string) => {
    const entry = parseListingKey(key);
    if (entry && lost.has(entry.id)) return true;
    return relisted.hasKey(key) ? !entry?.isFlat : isEntryOfRecord(store, key);
  };
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
  const find = () => tryFindRecord(store, entry.id, signal);
  // An upload writes its entries concurrently with the record, and may still retry the record.
  const mayFollow = isSettling(entry.published);
  const found = mayFollow ? await find() : await findTwice(store, find, signal);
  if (!found) return mayFollow;
  if (found instanceof UnreadableRecord) return true;
  if (isTombstone(found)) return isSettling(found.removed.at);
  const listed = listingEntryOf(found);
  return [...listingKeys(listed), ...flatListingKeys(listed)].includes(key);
}
