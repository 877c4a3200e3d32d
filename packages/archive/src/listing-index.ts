import { hash } from 'node:crypto';
import { listKeys } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { flatListingKeys, type ListingEntry, listingPrefixes, parseListingKey } from './listing-keys.ts';

/** A set of listing entries, in either form: 16 bytes per record, which fits into memory for millions of records. */
export class ListingIndex {
  #hashes = new BigUint64Array(1024);
  #count = 0;
  #isSorted = true;

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
    if (this.#count === this.#hashes.length)
      this.#hashes = new BigUint64Array(this.#hashes.buffer.transfer(2 * this.#hashes.byteLength));
    this.#hashes[this.#count] = hashOf(key);
    this.#count += 1;
    this.#isSorted = false;
  }

  #has(key: string): boolean {
    const all = this.#hashes.subarray(0, this.#count);
    if (!this.#isSorted) all.sort();
    this.#isSorted = true;
    const wanted = hashOf(key);
    let [from, to] = [0, all.length];
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
  for (const prefix of listingPrefixes) {
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

function hashOf(key: string): bigint {
  return hash('sha1', key, 'buffer').readBigUInt64LE();
}
