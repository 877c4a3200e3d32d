const keyBytes = 16;

/** What names a media key: no record, one that is published, or the tombstone of a removed one. */
export type NamedBy = 'nothing' | 'record' | 'tombstone';

// The mark of a key is the index here.
const namedBy = ['nothing', 'record', 'tombstone'] as const;

/** Media keys, and what names each: 17 bytes for one, so that millions fit into a process. They are added in their order. */
export class MediaKeySet {
  readonly #keys: Buffer;
  readonly #marks: Uint8Array;
  #size = 0;

  /** Holds at most `capacity` keys. */
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

  /** @throws RangeError unless `mediaKey` comes after all that are in it, and there is room */
  add(mediaKey: string): void {
    const key = Buffer.from(mediaKey, 'hex');
    if (this.isFull || (this.#size > 0 && this.#compare(this.#size - 1, key) <= 0))
      throw new RangeError('out of order');
    key.copy(this.#keys, this.#size * keyBytes);
    this.#size += 1;
  }

  /** Says what names a key; one that is not in it is passed over, and what is published stays so. */
  name(mediaKey: string, by: Exclude<NamedBy, 'nothing'>): void {
    const at = this.#find(mediaKey);
    if (at !== undefined && this.#marks[at] !== namedBy.indexOf('record')) this.#marks[at] = namedBy.indexOf(by);
  }

  /** What names a key; undefined where the key is not in it. */
  namedBy(mediaKey: string): NamedBy | undefined {
    const at = this.#find(mediaKey);
    return at === undefined ? undefined : namedBy[this.#marks[at] ?? 0];
  }

  /** How many keys nothing names. */
  get unnamed(): number {
    let count = 0;
    for (const mark of this.#marks.subarray(0, this.#size)) if (mark === namedBy.indexOf('nothing')) count += 1;
    return count;
  }

  /** Whether there is a key in it that no published record names. */
  get hasUnpublished(): boolean {
    return this.#marks.subarray(0, this.#size).some((mark) => mark !== namedBy.indexOf('record'));
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

  // Below zero where `key` comes before the one at `index`.
  #compare(index: number, key: Buffer): number {
    const at = index * keyBytes;
    return key.compare(this.#keys, at, at + keyBytes);
  }
}
