const keyBytes = 16;
const segmentKeys = 65_536;

/** What references a media key: no record, a published one, or the tombstone of a removed one. */
export type Reference = 'nothing' | 'record' | 'tombstone';

// A key's mark is an index into this list.
const references = ['nothing', 'record', 'tombstone'] as const;

/** A sorted set of media keys with their references: 17 bytes per key, which fits into memory for millions of keys. */
export class MediaKeySet {
  // Grows by segments, because a larger copy would need the memory twice.
  readonly #segments: { readonly keys: Buffer; readonly marks: Uint8Array }[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @throws RangeError if `mediaKey` does not come after all others */
  add(mediaKey: string): void {
    const key = Buffer.from(mediaKey, 'hex');
    if (this.#size > 0 && this.#compare(this.#size - 1, key) <= 0) throw new RangeError('out of order');
    if (this.#size % segmentKeys === 0)
      this.#segments.push({ keys: Buffer.alloc(segmentKeys * keyBytes), marks: new Uint8Array(segmentKeys) });
    const [{ keys }, at] = this.#place(this.#size);
    key.copy(keys, at * keyBytes);
    this.#size += 1;
  }

  /** Notes a reference. Ignores keys that are not in the set; a published key stays published. */
  mark(mediaKey: string, reference: Exclude<Reference, 'nothing'>): void {
    const index = this.#find(mediaKey);
    if (index === undefined) return;
    const [{ marks }, at] = this.#place(index);
    if (marks[at] !== references.indexOf('record')) marks[at] = references.indexOf(reference);
  }

  /** Undefined if the key is not in the set. */
  referenceOf(mediaKey: string): Reference | undefined {
    const index = this.#find(mediaKey);
    if (index === undefined) return undefined;
    const [{ marks }, at] = this.#place(index);
    return references[marks[at] ?? 0];
  }

  /** Number of keys without a reference. */
  get unreferenced(): number {
    let count = 0;
    for (const marks of this.#marks()) for (const mark of marks) if (mark === references.indexOf('nothing')) count += 1;
    return count;
  }

  get hasOrphans(): boolean {
    return this.#marks().some((marks) => marks.some((mark) => mark !== references.indexOf('record')));
  }

  #marks(): Uint8Array[] {
    return this.#segments.map(({ marks }, n) => marks.subarray(0, this.#size - n * segmentKeys));
  }

  /** The segment of a key, and its index there. */
  #place(index: number) {
    const segment = this.#segments[Math.floor(index / segmentKeys)];
    if (!segment) throw new RangeError('no such key');
    return [segment, index % segmentKeys] as const;
  }

  #find(mediaKey: string): number | undefined {
    const key = Buffer.from(mediaKey, 'hex');
    let from = 0;
    let to = this.#size;
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
    const [{ keys }, place] = this.#place(index);
    const at = place * keyBytes;
    return key.compare(keys, at, at + keyBytes);
  }
}
