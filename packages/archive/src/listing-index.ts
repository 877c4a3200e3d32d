import { hash } from 'node:crypto';
import { listObjects } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type ListingEntry, listingKeys, listingPrefixes } from './listing-keys.ts';

/**
 * Takes a snapshot of all listing entries: a sorted array with 8 bytes per entry, which fits into memory for millions of records.
 * @returns a function that says whether all entries of a record exist
 * @throws StoreUnavailable, or the signal's reason
 */
export async function readListingIndex(
  store: ObjectStore,
  signal: AbortSignal,
): Promise<(entry: ListingEntry) => boolean> {
  let hashes = new BigUint64Array(1024);
  let count = 0;
  for (const prefix of listingPrefixes) {
    for await (const { key } of listObjects(store, prefix)) {
      signal.throwIfAborted();
      if (count === hashes.length) hashes = new BigUint64Array(hashes.buffer.transfer(2 * hashes.byteLength));
      hashes[count] = hashOf(key);
      count += 1;
    }
  }
  const sorted = hashes.subarray(0, count).sort();
  return (entry) => listingKeys(entry).every((key) => contains(sorted, hashOf(key)));
}

function contains(sorted: BigUint64Array, wanted: bigint): boolean {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const found = sorted[middle] ?? 0n;
    if (found === wanted) return true;
    if (found < wanted) from = middle + 1;
    else to = middle;
  }
  return false;
}

function hashOf(key: string): bigint {
  return hash('sha1', key, 'buffer').readBigUInt64LE();
}
