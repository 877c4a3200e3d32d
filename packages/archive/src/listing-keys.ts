import { listingPrefix, ownersPrefix } from '@echodrop/object-store/object-keys';
import type { StoredRecord } from '@echodrop/record';
import { ownerHash } from './owner.ts';

/** What the listing entries of a record contain. */
export interface ListingEntry extends Pick<StoredRecord, 'id' | 'timestamp'> {
  /** Hash of the owner. */
  readonly owner: string;
}

// An entry's name is the time left until this one, in 13 digits, so that the newest sorts first, and the media id.
const endOfTime = 9_999_999_999_999;
const entryName = /^(\d{13})-([0-9A-Za-z]{10})$/;

/** The prefixes of all listing entries, in key order. */
export const listingPrefixes = [listingPrefix(), ownersPrefix];

export function isCursor(text: string): boolean {
  return entryName.test(text);
}

export function listingEntryOf(record: StoredRecord): ListingEntry {
  return { id: record.id, timestamp: record.timestamp, owner: ownerHash(record) };
}

/** The keys of a record's listing entries. */
export function listingKeys(entry: ListingEntry): string[] {
  return [listingPrefix(entry.owner), listingPrefix()].map((prefix) => `${prefix}${listingNameOf(entry)}`);
}

/** The media id in the key of a listing entry; undefined for other keys. */
export function idInListingKey(key: string): string | undefined {
  return entryName.exec(key.slice(key.lastIndexOf('/') + 1))?.[2];
}

/** The publishing time in the key of a listing entry, in ms since 1970; NaN for other keys. */
export function timeInListingKey(key: string): number {
  return endOfTime - Number(entryName.exec(key.slice(key.lastIndexOf('/') + 1))?.[1]);
}

/** The name of a listing entry, a cursor. */
export function listingNameOf({ id, timestamp }: Pick<ListingEntry, 'id' | 'timestamp'>): string {
  return `${String(endOfTime - timestamp.getTime()).padStart(13, '0')}-${id}`;
}
