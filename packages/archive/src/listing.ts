import { listingPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type RecordPage, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { idInListingKey, isCursor, type ListingEntry, listingKeys, listingNameOf } from './listing-keys.ts';
import { ownerHash } from './owner.ts';
import { tryFindRecord } from './records.ts';

interface PageRequest {
  /** Hash of an owner; without it, the uploads of all owners. */
  readonly owner?: string | undefined;
  /** Cursor from the previous page. */
  readonly after?: string | undefined;
  /** The most records per page. */
  readonly limit: number;
  readonly signal?: AbortSignal;
  /** Called with the id of each unreadable record, which the page skips. */
  readonly unreadable?: (id: string) => void;
}

// Bounds the work for a page if many entries have no record.
const maxLists = 4;

/** Writes the missing listing entries of a record. @returns whether one was missing @throws StoreUnavailable */
export async function addToListings(store: ObjectStore, entry: ListingEntry): Promise<boolean> {
  const written = await Promise.all(listingKeys(entry).map((key) => store.putIfAbsent(key, Buffer.alloc(0))));
  return written.includes('created');
}

/** Removes the listing entries of a record. @throws StoreUnavailable */
export async function removeFromListings(store: ObjectStore, entry: ListingEntry): Promise<void> {
  await Promise.all(listingKeys(entry).map((key) => store.remove(key)));
}

/**
 * Reads a page of records, newest first. A record without entries is missing until a sweep adds them; an entry without a
 * record is skipped.
 * @throws RangeError if `after` is not a cursor; StoreUnavailable, or the signal's reason
 */
export async function listNewest(
  store: ObjectStore,
  { owner, after, limit, signal, unreadable }: PageRequest,
): Promise<RecordPage<StoredRecord>> {
  if (after !== undefined && !isCursor(after)) throw new RangeError('Invalid cursor.');
  const prefix = listingPrefix(owner);
  const records: StoredRecord[] = [];
  let last = after;
  for (let lists = 0; lists < maxLists; lists += 1) {
    const wanted = limit - records.length;
    // One more shows whether a next page exists.
    const entries = await store.list(prefix, { after: last && `${prefix}${last}`, limit: wanted + 1 });
    const names = entries.map(({ key }) => key.slice(prefix.length));
    const read = names.slice(0, wanted).map((name) => readEntry(store, name, { owner, signal, unreadable }));
    records.push(...(await Promise.all(read)).filter((record) => record !== undefined));
    if (names.length <= wanted) return { records };
    last = names[wanted - 1];
    if (records.length === limit) break;
  }
  return { records, ...(last !== undefined && { next: last }) };
}

async function readEntry(
  store: ObjectStore,
  name: string,
  { owner, signal, unreadable }: Pick<PageRequest, 'owner' | 'signal' | 'unreadable'>,
): Promise<StoredRecord | undefined> {
  const id = idInListingKey(name);
  if (id === undefined) return undefined;
  const found = await tryFindRecord(store, id, signal);
  if (found instanceof UnreadableRecord) unreadable?.(id);
  if (!found || found instanceof UnreadableRecord || isTombstone(found) || listingNameOf(found) !== name)
    return undefined;
  return owner === undefined || ownerHash(found) === owner ? found : undefined;
}
