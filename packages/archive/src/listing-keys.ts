import { listingPrefix, ownersPrefix } from '@echodrop/object-store/object-keys';
import { maxRecordTime, type StoredRecord } from '@echodrop/record';
import { ownerHash } from './owner.ts';

/** What the listing entries of a record contain. */
export interface ListingEntry extends Pick<StoredRecord, 'id' | 'timestamp'> {
  /** Hash of the owner. */
  readonly owner: string;
}

// An entry's name is the time left until `maxRecordTime`, in 13 digits, so that the newest sorts first, and the media id.
const entryName = /^(\d{13})-([0-9A-Za-z]{10})$/;
const folder = /^(?:by-time|by-user\/[0-9a-f]{32})\//;

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

/** The media id in the name of a listing entry; undefined for other names. */
export function idInListingName(name: string): string | undefined {
  return entryName.exec(name)?.[2];
}

/** The media id in the key of a listing entry, and the publishing time; undefined for other keys. */
export function parseListingKey(key: string): { readonly id: string; readonly published: Date } | undefined {
  const [prefix = ''] = folder.exec(key) ?? [];
  const [, left, id] = (prefix && entryName.exec(key.slice(prefix.length))) || [];
  return id === undefined ? undefined : { id, published: new Date(maxRecordTime - Number(left)) };
}

/** The name of a listing entry, a cursor. */
export function listingNameOf({ id, timestamp }: Pick<ListingEntry, 'id' | 'timestamp'>): string {
  return `${String(maxRecordTime - timestamp.getTime()).padStart(13, '0')}-${id}`;
}
