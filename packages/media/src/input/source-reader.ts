/**
 * Media that lies elsewhere: its size in bytes, its first bytes (up to 16 KiB), and a way to read the rest in parts.
 */
export interface RangedSource {
  readonly size: number;
  readonly head: Buffer;
  /** Gives exactly the bytes asked for; the range lies within the media. Rejects where the store cannot give them. */
  read(offset: number, length: number, signal: AbortSignal): Promise<Buffer>;
}

const windowBytes = 64 * 1024;

/**
 * Reads of media that are kept few: what the head or the latest window of 64 KiB holds is never asked for again.
 * Whoever loops over `at` or `prefix` bounds the loop. Both cut at the end of the media, so that fewer bytes than
 * wanted mean that there are no more.
 */
export class SourceReader {
  readonly size: number;
  readonly signal: AbortSignal;
  readonly #source: RangedSource;
  #prefix: Buffer;
  #reads = 0;
  #window: { readonly offset: number; readonly bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };

  constructor(source: RangedSource, signal: AbortSignal) {
    this.size = source.size;
    this.signal = signal;
    this.#source = source;
    this.#prefix = source.head;
  }

  /** All first bytes that are here already. */
  get known(): Buffer {
    return this.#prefix;
  }

  /** How many reads there were. */
  get reads(): number {
    return this.#reads;
  }

  /** The first `length` bytes, in one read of what is not here yet. */
  async prefix(length: number): Promise<Buffer> {
    const missing = Math.min(length, this.size) - this.#prefix.length;
    if (missing > 0) this.#prefix = Buffer.concat([this.#prefix, await this.#read(this.#prefix.length, missing)]);
    return this.#prefix.subarray(0, length);
  }

  /** `length` bytes from `offset`, in at most one read. */
  async at(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (wanted === 0) return Buffer.alloc(0);
    if (offset + wanted <= this.#prefix.length) return this.#prefix.subarray(offset, offset + wanted);
    const { offset: start, bytes } = this.#window;
    if (offset < start || offset + wanted > start + bytes.length) {
      const enough = Math.min(Math.max(wanted, windowBytes), this.size - offset);
      this.#window = { offset, bytes: await this.#read(offset, enough) };
    }
    return this.#window.bytes.subarray(offset - this.#window.offset, offset - this.#window.offset + wanted);
  }

  /** The last `length` bytes, in at most one read of what is not here yet. */
  async tail(length: number): Promise<Buffer> {
    const offset = Math.max(0, this.size - length);
    if (offset >= this.#prefix.length) return this.at(offset, length);
    return (await this.prefix(this.size)).subarray(offset);
  }

  async #read(offset: number, length: number): Promise<Buffer> {
    this.#reads += 1;
    const bytes = await this.#source.read(offset, length, this.signal);
    if (bytes.length !== length) throw new Error(`asked for ${length} bytes of media, got ${bytes.length}`);
    return bytes;
  }
}
