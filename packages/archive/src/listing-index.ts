import { hash } from 'node:crypto';
import { listKeys } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { flatListingKeys, type ListingEntry, listingPrefixes, parseListingKey } from './listing-keys.ts';

/** A set of listing entries, in either form: 16 to 20 bytes per record, which fits into memory for millions of records. */
export class ListingIndex {
  // By the first byte of the hash, so that only a small part is in memory twice while it grows.
  readonly #buckets = Array.from({ length: 256 }, () => new HashSet());

  /** Adds both entries of a record. */
  addRecord(entry: ListingEntry): void {
    for (const key of flatListingKeys(entry)) this.#add(key);
  }

  /** Adds an entry, unless `key` is not that of one. */
  addKey(key: string): void {
    const flat = flatKeyOf(key);
    if (flat !== undefined) this.#add(flat);
  }

  /** Whether both entries of a record are in the set. */
  hasRecord(entry: ListingEntry): boolean {
    return flatListingKeys(entry).every((key) => this.#has(key));
  }

  hasKey(key: string): boolean {
    const flat = flatKeyOf(key);
    return flat !== undefined && this.#has(flat);
  }

  #add(key: string): void {
    const [bucket, hashed] = this.#hash(key);
    bucket.add(hashed);
  }

  #has(key: string): boolean {
    const [bucket, hashed] = this.#hash(key);
    return bucket.has(hashed);
  }

  #hash(key: string) {
    const bytes = hash('sha1', key, 'buffer');
    const bucket = this.#buckets[bytes.readUInt8(8)];
    if (!bucket) throw new RangeError('no such bucket');
    return [bucket, bytes.readBigUInt64LE()] as const;
  }
}

class HashSet {
  #hashes = new BigUint64Array(64);
  #count = 0;
  #isSorted = true;

  add(hashed: bigint): void {
    const { length, buffer } = this.#hashes;
    if (this.#count === length) this.#hashes = new BigUint64Array(buffer.transfer(8 * Math.ceil(1.25 * length)));
    this.#hashes[this.#count] = hashed;
    this.#count += 1;
    this.#isSorted = false;
  }

  has(wanted: bigint): boolean {
    const all = this.#hashes.subarray(0, this.#count);
    if (!this.#isSorted) all.sort();
    this.#isSorted = true;
    let from = 0;
    let to = all.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const found = all[middle] ?? 0n;
      if (found === wanted) return true;
      if (found < wanted) from = middle + 1;
      else to = middle;
    }
    return false;
  }
}

interface IndexOptions {
  readonly signal?: AbortSignal | undefined;
  /** Leaves out what release 0.1.0 wrote. */
  readonly withoutFlat?: boolean;
}

/** Takes a snapshot of all listing entries. @throws StoreUnavailable, or the signal's reason */
export async function readListingIndex(
  store: ObjectStore,
  { signal, withoutFlat = false }: IndexOptions = {},
): Promise<ListingIndex> {
  const index = new ListingIndex();
  // Those with evenly spread names first: how far the list is shows only there, and then their number is known.
  for (const prefix of listingPrefixes.toReversed()) {
    for await (const key of listKeys(store, prefix)) {
      signal?.throwIfAborted();
      if (!withoutFlat || !parseListingKey(key)?.isFlat) index.addKey(key);
    }
  }
  return index;
}

// The form of release 0.1.0, which has no folders.
function flatKeyOf(key: string): string | undefined {
  const entry = parseListingKey(key);
  return entry && `${entry.prefix}${entry.name}`;
}
