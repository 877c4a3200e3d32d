import { hash } from 'node:crypto';
import { listObjects } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type Listed, listingKeys, listingPrefixes } from './listing.ts';

/** The list entries of a store at one time: 8 bytes for each, so that those of millions of records fit into a process. */
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
        if (count === hashes.length) hashes = grown(hashes);
        hashes[count] = hashOf(key);
        count += 1;
      }
    }
    return new ListingIndex(hashes.subarray(0, count).sort());
  }

  /** Whether lists show the record. */
  has(record: Listed): boolean {
    return listingKeys(record).every((key) => this.#find(hashOf(key)));
  }

  #find(wanted: bigint): boolean {
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

function grown(hashes: BigUint64Array<ArrayBuffer>): BigUint64Array<ArrayBuffer> {
  const larger = new BigUint64Array(hashes.length * 2);
  larger.set(hashes);
  return larger;
}

function hashOf(key: string): bigint {
  return hash('sha1', key, 'buffer').readBigUInt64LE();
}
