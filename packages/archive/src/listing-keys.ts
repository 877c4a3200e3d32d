import { listingPrefix, ownersPrefix } from '@echodrop/object-store/object-keys';
import { maxRecordTime, type StoredRecord } from '@echodrop/record';
import { z } from 'zod';
import { ownerHash } from './owner.ts';

/** What the listing entries of a record contain. */
export interface ListingEntry extends Pick<StoredRecord, 'id' | 'timestamp'> {
  /** Hash of the owner. */
  readonly owner: string;
}

/** The key of a listing entry, in parts. */
export interface ParsedListingKey {
  /** Prefix of the listing. */
  readonly prefix: string;
  /** The cursor of the entry. */
  readonly name: string;
  readonly id: string;
  readonly published: Date;
  /** Release 0.1.0 wrote it. */
  readonly isFlat: boolean;
}

/**
 * The place in a listing after which a page begins: the name of an entry. It is the time left until `maxRecordTime`, in 13 digits, so that
 * the newest sorts first, and the media id.
 */
export const cursorShape = z.string().regex(/^\d{13}-[0-9A-Za-z]{10}$/);

const entryKey =
  /^(?<prefix>by-time\/|by-user\/[0-9a-f]{32}\/)(?:days\/(?<day>\d{5})\/)?(?<name>(?<left>\d{13})-(?<id>[0-9A-Za-z]{10}))$/;
// The first digits of a name, which change every 10^8 ms: 28 hours.
const dayDigits = 5;

/** The prefixes of all listing entries, in key order. */
export const listingPrefixes = [listingPrefix(), ownersPrefix];

export function listingEntryOf(record: StoredRecord): ListingEntry {
  return { id: record.id, timestamp: record.timestamp, owner: ownerHash(record) };
}

/** The keys of a record's listing entries. */
export function listingKeys(entry: ListingEntry): string[] {
  return prefixesOf(entry).map((prefix) => listingKey(prefix, listingNameOf(entry)));
}

/** The keys that release 0.1.0 gave to a record's listing entries. */
export function flatListingKeys(entry: ListingEntry): string[] {
  return prefixesOf(entry).map((prefix) => `${prefix}${listingNameOf(entry)}`);
}

/** The key of the entry `name` of a listing. Each day has a folder, so that a filesystem need not read the others. */
export function listingKey(prefix: string, name: string): string {
  return `${daysPrefix(prefix)}${name.slice(0, dayDigits)}/${name}`;
}

/** Prefix of the days of a listing. */
export function daysPrefix(prefix: string): string {
  return `${prefix}days/`;
}

/** The parts of the key of a listing entry; undefined for any other key. */
export function parseListingKey(key: string): ParsedListingKey | undefined {
  const { prefix = '', day, name = '', left, id = '' } = entryKey.exec(key)?.groups ?? {};
  if (day !== undefined && !name.startsWith(day)) return undefined;
  return id === ''
    ? undefined
    : { prefix, name, id, published: new Date(maxRecordTime - Number(left)), isFlat: day === undefined };
}

/** The media id in the name of a listing entry. */
export function idInListingName(name: string): string {
  return name.slice(name.indexOf('-') + 1);
}

/** The name of a listing entry, a cursor. */
export function listingNameOf({ id, timestamp }: Pick<ListingEntry, 'id' | 'timestamp'>): string {
  return `${String(maxRecordTime - timestamp.getTime()).padStart(13, '0')}-${id}`;
}

function prefixesOf({ owner }: ListingEntry): string[] {
  return [listingPrefix(owner), listingPrefix()];
}
