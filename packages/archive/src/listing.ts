import { listingPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type RecordPage, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import {
  cursorShape,
  flatListingKeys,
  idInListingName,
  type ListingEntry,
  listingKeys,
  listingNameOf,
} from './listing-keys.ts';
import { namesAfter } from './listing-names.ts';
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
  /** Called with each unreadable record, which the page skips. */
  readonly unreadable?: (id: string, error: UnreadableRecord) => void;
}

// This bounds the work for a page if many entries have no record.
const maxLists = 4;
// This bounds the memory for a page: a page ends after so many characters of texts, including texts that no response repeats.
// A record of 64 KiB takes four times as much while it is read.
const maxCharacters = 128 * 1024;
const recordsAtOnce = 8;

/** Writes the missing listing entries of a record. @returns whether one was missing @throws StoreUnavailable */
export async function addToListings(store: ObjectStore, entry: ListingEntry): Promise<boolean> {
  const written = await Promise.all(listingKeys(entry).map((key) => store.putIfAbsent(key, Buffer.alloc(0))));
  return written.includes('created');
}

/** Removes the listing entries of a record. @throws StoreUnavailable */
export async function removeFromListings(store: ObjectStore, entry: ListingEntry): Promise<void> {
  await Promise.all([...listingKeys(entry), ...flatListingKeys(entry)].map((key) => store.remove(key)));
}

/** The keys of the missing listing entries of a record. An entry of release 0.1.0 counts. @throws StoreUnavailable */
export async function missingListingKeys(store: ObjectStore, entry: ListingEntry): Promise<string[]> {
  const flat = flatListingKeys(entry);
  const missing = await Promise.all(
    listingKeys(entry).map(async (key, n) => {
      const isListed = (await store.exists(key)) || (await store.exists(flat[n] ?? ''));
      return isListed ? [] : [key];
    }),
  );
  return missing.flat();
}

/**
 * Reads a page of records, newest first. A record without entries is missing until a sweep adds them; an entry without a
 * record is skipped. A page of long texts is shorter.
 * @throws RangeError if `after` is not a cursor; StoreUnavailable, or the signal's reason
 */
export async function listNewest(
  store: ObjectStore,
  { owner, after, limit, signal, unreadable }: PageRequest,
): Promise<RecordPage<StoredRecord>> {
  assertCursor(after);
  const prefix = listingPrefix(owner);
  const records: StoredRecord[] = [];
  let last = after;
  let characters = 0;
  const page = () => ({ records, ...(last !== undefined && { next: last }) });
  for (let lists = 0; lists < maxLists; lists += 1) {
    const wanted = limit - records.length;
    // One more name shows whether a next page exists.
    const { names, isLast } = await namesAfter(store, prefix, { after: last, limit: wanted + 1 });
    for await (const [name, record] of readEntries(store, names.slice(0, wanted), { owner, signal, unreadable })) {
      if (characters > maxCharacters) return page();
      last = name;
      if (!record) continue;
      records.push(record);
      characters += charactersOf(record);
    }
    if (names.length === 0 || (isLast && names.length <= wanted)) return { records };
    if (records.length === limit) break;
  }
  return page();
}

function charactersOf({ text, alt = '', etag, provider, subject, application, user }: StoredRecord): number {
  const texts = [text, alt, etag, provider, subject, application, user.screenName];
  return texts.reduce((sum, { length }) => sum + length, 0);
}

function assertCursor(after: string | undefined): void {
  if (!cursorShape.optional().safeParse(after).success) throw new RangeError('Invalid cursor.');
}

type EntryOptions = Pick<PageRequest, 'owner' | 'signal' | 'unreadable'>;

async function* readEntries(store: ObjectStore, names: readonly string[], options: EntryOptions) {
  for (let read = 0; read < names.length; read += recordsAtOnce) {
    const some = names.slice(read, read + recordsAtOnce);
    yield* await Promise.all(some.map(async (name) => [name, await readEntry(store, name, options)] as const));
  }
}

async function readEntry(
  store: ObjectStore,
  name: string,
  { owner, signal, unreadable }: EntryOptions,
): Promise<StoredRecord | undefined> {
  const id = idInListingName(name);
  const found = await tryFindRecord(store, id, signal);
  if (found instanceof UnreadableRecord) unreadable?.(id, found);
  if (!found || found instanceof UnreadableRecord || isTombstone(found) || listingNameOf(found) !== name)
    return undefined;
  return owner === undefined || ownerHash(found) === owner ? found : undefined;
}
