import { hash } from 'node:crypto';
import { listObjects } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type ListingEntry, listingKeys, listingPrefixes } from './listing.ts';

/** A snapshot of all list entries: a sorted array with 8 bytes per entry, which fits into memory for millions of records. */
export class ListingIndex {
  readonly #hashes: BigUint64Array;

  private constructor(hashes: BigUint64Array) {
    this.#hashes = hashes;
  }

  /** @throws StoreUnavailable, or the signal's reason */
  static async read(store: ObjectStore, signal: AbortSignal): Promise<ListingIndex> {
    let hashes = new BigUint64Array(1024);
    let count = 0;
    for (const prefix of listingPrefixes) {
      for await (const { key } of listObjects(store, prefix)) {
        signal.throwIfAborted();
        if (count === hashes.length) hashes = enlarge(hashes);
        hashes[count] = hashOf(key);
        count += 1;
      }
    }
    return new ListingIndex(hashes.subarray(0, count).sort());
  }

  /** Whether all entries of the record exist. */
  has(entry: ListingEntry): boolean {
    return listingKeys(entry).every((key) => this.#contains(hashOf(key)));
  }

  #contains(wanted: bigint): boolean {
    let [from, to] = [0, this.#hashes.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const found = this.#hashes[middle] ?? 0n;
      if (found === wanted) return true;
      if (found < wanted) from = middle + 1;
      else to = middle;
    }
    return false;
  }
}

function enlarge(hashes: BigUint64Array<ArrayBuffer>): BigUint64Array<ArrayBuffer> {
  const larger = new BigUint64Array(hashes.length * 2);
  larger.set(hashes);
  return larger;
}

function hashOf(key: string): bigint {
  return hash('sha1', key, 'buffer').readBigUInt64LE();
}
