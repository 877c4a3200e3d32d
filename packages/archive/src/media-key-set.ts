const keyBytes = 16;

/** What references a media key: no record, a published one, or the tombstone of a removed one. */
export type Reference = 'nothing' | 'record' | 'tombstone';

// A key's mark is an index into this list.
const references = ['nothing', 'record', 'tombstone'] as const;

/** A sorted set of media keys with their references: 17 bytes per key, which fits into memory for millions of keys. */
export class MediaKeySet {
  readonly #keys: Buffer;
  readonly #marks: Uint8Array;
  #size = 0;

  /** @param capacity the most keys */
  constructor(capacity: number) {
    this.#keys = Buffer.alloc(capacity * keyBytes);
    this.#marks = new Uint8Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size === this.#marks.length;
  }

  /** @throws RangeError if the set is full, or `mediaKey` does not come after all others */
  add(mediaKey: string): void {
    const key = Buffer.from(mediaKey, 'hex');
    if (this.isFull || (this.#size > 0 && this.#compare(this.#size - 1, key) <= 0))
      throw new RangeError('out of order');
    key.copy(this.#keys, this.#size * keyBytes);
    this.#size += 1;
  }

  /** Notes a reference. Ignores keys that are not in the set; a published key stays published. */
  mark(mediaKey: string, reference: Exclude<Reference, 'nothing'>): void {
    const at = this.#find(mediaKey);
    if (at !== undefined && this.#marks[at] !== references.indexOf('record'))
      this.#marks[at] = references.indexOf(reference);
  }

  /** Undefined if the key is not in the set. */
  referenceOf(mediaKey: string): Reference | undefined {
    const at = this.#find(mediaKey);
    return at === undefined ? undefined : references[this.#marks[at] ?? 0];
  }

  /** Number of keys without a reference. */
  get unreferenced(): number {
    let count = 0;
    for (const mark of this.#marks.subarray(0, this.#size)) if (mark === references.indexOf('nothing')) count += 1;
    return count;
  }

  get hasOrphans(): boolean {
    return this.#marks.subarray(0, this.#size).some((mark) => mark !== references.indexOf('record'));
  }

  #find(mediaKey: string): number | undefined {
    const key = Buffer.from(mediaKey, 'hex');
    let [from, to] = [0, this.#size];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = this.#compare(middle, key);
      if (order === 0) return middle;
      if (order > 0) from = middle + 1;
      else to = middle;
    }
    return undefined;
  }

  // Negative if `key` sorts before the one at `index`.
  #compare(index: number, key: Buffer): number {
    const at = index * keyBytes;
    return key.compare(this.#keys, at, at + keyBytes);
  }
}
