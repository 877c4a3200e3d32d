import { hash } from 'node:crypto';

/** A set of keys: 8 to 10 bytes for each, which fits into memory for millions of keys. It keeps 64 bits of a hash of each. */
export class KeySet {
  // The hashes are kept by their first byte, so that only a small part is in memory twice while the set grows.
  readonly #buckets = Array.from({ length: 256 }, () => new HashSet());

  add(key: string): void {
    const [bucket, hashed] = this.#hash(key);
    bucket.add(hashed);
  }

  has(key: string): boolean {
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
