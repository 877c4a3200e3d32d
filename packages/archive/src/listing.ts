import { listingPrefix, ownersPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type RecordPage, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { ownerHash } from './owner.ts';
import { tryFindRecord } from './records.ts';

/** What the list entries of a record contain. */
export interface ListingEntry extends Pick<StoredRecord, 'id' | 'timestamp'> {
  /** Hash of the owner. */
  readonly owner: string;
}

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

// An entry's name is the time left until this one, in 13 digits, so that the newest sorts first, and the media id.
const endOfTime = 9_999_999_999_999;
const entryName = /^(\d{13})-([0-9A-Za-z]{10})$/;
// Bounds the work for a page if many entries have no record.
const maxLists = 4;

/** The prefixes of all list entries, in key order. */
export const listingPrefixes = [listingPrefix(), ownersPrefix];

export function isCursor(text: string): boolean {
  return entryName.test(text);
}

export function listingEntryOf(record: StoredRecord): ListingEntry {
  return { id: record.id, timestamp: record.timestamp, owner: ownerHash(record) };
}

/** The keys of a record's list entries. */
export function listingKeys(entry: ListingEntry): string[] {
  return [listingPrefix(entry.owner), listingPrefix()].map((prefix) => `${prefix}${nameOf(entry)}`);
}

/** Writes the missing list entries of a record. @returns whether one was missing @throws StoreUnavailable */
export async function addToListings(store: ObjectStore, entry: ListingEntry): Promise<boolean> {
  const written = await Promise.all(listingKeys(entry).map((key) => store.putIfAbsent(key, Buffer.alloc(0))));
  return written.includes('created');
}

/** Removes the list entries of a record. @throws StoreUnavailable */
export async function removeFromListings(store: ObjectStore, entry: ListingEntry): Promise<void> {
  await Promise.all(listingKeys(entry).map((key) => store.remove(key)));
}

/** The media id in the key of a list entry; undefined for other keys. */
export function idInListingKey(key: string): string | undefined {
  return entryName.exec(key.slice(key.lastIndexOf('/') + 1))?.[2];
}

/** The publishing time in the key of a list entry, in ms since 1970; NaN for other keys. */
export function timeInListingKey(key: string): number {
  return endOfTime - Number(entryName.exec(key.slice(key.lastIndexOf('/') + 1))?.[1]);
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
  if (!found || found instanceof UnreadableRecord || isTombstone(found) || nameOf(found) !== name) return undefined;
  return owner === undefined || ownerHash(found) === owner ? found : undefined;
}

function nameOf({ id, timestamp }: Pick<ListingEntry, 'id' | 'timestamp'>): string {
  return `${String(endOfTime - timestamp.getTime()).padStart(13, '0')}-${id}`;
}
