import { listingPrefix, ownersPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type RecordPage, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { tryFindRecord } from './find-record.ts';
import { ownerHash } from './owner.ts';

interface Asked {
  /** The hash of the owner whose uploads are meant; else all are. */
  readonly owner?: string | undefined;
  /** The cursor that the page before this one gave. */
  readonly after?: string | undefined;
  /** How many records a page has at most. */
  readonly limit: number;
  readonly signal?: AbortSignal;
  /** Hears of each record that cannot be read, which is passed over. */
  readonly unreadable?: (id: string) => void;
}

// An entry's name is the time before it (milliseconds to the end of 13 digits, so that the newest is the first), and the id.
const endOfTime = 9_999_999_999_999;
const entryName = /^(\d{13})-([0-9A-Za-z]{10})$/;
// Entries of records that are gone are passed over; a page of nothing else ends all the same.
const mostLists = 4;

/** Whether `text` has the shape of a cursor. */
export function isCursor(text: string): boolean {
  return entryName.test(text);
}

/** What was listed of a record: when it was published, under which id, and its owner's hash. */
export interface Listed extends Pick<StoredRecord, 'id' | 'timestamp'> {
  readonly owner: string;
}

/**
 * Writes a record's entries, which are empty objects beside it; those that are there stay.
 * @returns whether one was missing
 * @throws StoreUnavailable
 */
export async function addToListings(store: ObjectStore, listed: Listed): Promise<boolean> {
  const written = await Promise.all(listingKeys(listed).map((key) => store.putIfAbsent(key, Buffer.alloc(0))));
  return written.includes('created');
}

/** Takes a record's entries away. @throws StoreUnavailable */
export async function removeFromListings(store: ObjectStore, listed: Listed): Promise<void> {
  await Promise.all(listingKeys(listed).map((key) => store.remove(key)));
}

/** Below which all entries lie, in the order of their keys. */
export const listingPrefixes = [listingPrefix(), ownersPrefix];

/** The id of the record that an entry at `key` lists; undefined where no entry has such a key. */
export function idInListingKey(key: string): string | undefined {
  return entryName.exec(key.slice(key.lastIndexOf('/') + 1))?.[2];
}

/** When the record was published that an entry at `key` lists; NaN where no entry has such a key. Milliseconds since 1970. */
export function timeInListingKey(key: string): number {
  return endOfTime - Number(entryName.exec(key.slice(key.lastIndexOf('/') + 1))?.[1]);
}

/** What `enter` and `strike` need to know of a record. */
export function listingEntryOf(record: StoredRecord): Listed {
  return { id: record.id, timestamp: record.timestamp, owner: ownerHash(record) };
}

/**
 * Records from the newest on. One whose entries were never written (a process died in between) is missing until they are
 * written anew; an entry without its record is passed over.
 * @throws RangeError where `after` is no cursor; StoreUnavailable, or the signal's reason
 */
export async function listNewest(
  store: ObjectStore,
  { owner, after, limit, signal, unreadable }: Asked,
): Promise<RecordPage<StoredRecord>> {
  if (after !== undefined && !isCursor(after)) throw new RangeError('not a cursor');
  const prefix = listingPrefix(owner);
  const records: StoredRecord[] = [];
  let last = after;
  for (let lists = 0; lists < mostLists; lists += 1) {
    const wanted = limit - records.length;
    // One more tells whether there is a next page.
    const entries = await store.list(prefix, { after: last && `${prefix}${last}`, limit: wanted + 1 });
    const names = entries.map(({ key }) => key.slice(prefix.length));
    const read = names.slice(0, wanted).map((name) => recordOf(store, name, { owner, signal, unreadable }));
    records.push(...(await Promise.all(read)).filter((record) => record !== undefined));
    if (names.length <= wanted) return { records };
    last = names[wanted - 1];
    if (records.length === limit) break;
  }
  return { records, ...(last !== undefined && { next: last }) };
}

async function recordOf(
  store: ObjectStore,
  name: string,
  { owner, signal, unreadable }: Pick<Asked, 'owner' | 'signal' | 'unreadable'>,
): Promise<StoredRecord | undefined> {
  const id = entryName.exec(name)?.[2];
  if (id === undefined) return undefined;
  const found = await tryFindRecord(store, id, signal);
  if (found instanceof UnreadableRecord) unreadable?.(id);
  if (!found || found instanceof UnreadableRecord || isTombstone(found) || nameOf(found) !== name) return undefined;
  return owner === undefined || ownerHash(found) === owner ? found : undefined;
}

/** Where the entries of a record lie. */
export function listingKeys(listed: Listed): string[] {
  return [listingPrefix(listed.owner), listingPrefix()].map((prefix) => `${prefix}${nameOf(listed)}`);
}

function nameOf({ id, timestamp }: Pick<Listed, 'id' | 'timestamp'>): string {
  return `${String(endOfTime - timestamp.getTime()).padStart(13, '0')}-${id}`;
}
