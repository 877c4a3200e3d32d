/** Media that is read in ranges. */
export interface RangedSource {
  /** The number of bytes. */
  readonly size: number;
  /** The first bytes, up to 16 KiB. */
  readonly head: Buffer;
  /** Reads exactly a range within the media. Rejects if the store cannot provide it. */
  read(offset: number, length: number, signal: AbortSignal): Promise<Buffer>;
}

const windowBytes = 64 * 1024;

/**
 * Reads media with few requests: bytes of the prefix or of the latest window of 64 KiB are not requested again. Fewer bytes
 * than requested are returned at the end of the media only. Callers must limit their loops.
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

  /** The first bytes, as far as they were read. */
  get prefix(): Buffer {
    return this.#prefix;
  }

  /** The number of requests. */
  get reads(): number {
    return this.#reads;
  }

  /** The first `length` bytes, in at most one request. */
  async readPrefix(length: number): Promise<Buffer> {
    const missing = Math.min(length, this.size) - this.#prefix.length;
    if (missing > 0) this.#prefix = Buffer.concat([this.#prefix, await this.#read(this.#prefix.length, missing)]);
    return this.#prefix.subarray(0, length);
  }

  /** `length` bytes from `offset`, in at most one request. */
  async at(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (wanted === 0) return Buffer.alloc(0);
    if (offset + wanted <= this.#prefix.length) return this.#prefix.subarray(offset, offset + wanted);
    const { offset: start, bytes } = this.#window;
    if (offset < start || offset + wanted > start + bytes.length) {
      const windowLength = Math.min(Math.max(wanted, windowBytes), this.size - offset);
      this.#window = { offset, bytes: await this.#read(offset, windowLength) };
    }
    return this.#window.bytes.subarray(offset - this.#window.offset, offset - this.#window.offset + wanted);
  }

  /** The last `length` bytes, in at most one request. */
  async tail(length: number): Promise<Buffer> {
    const offset = Math.max(0, this.size - length);
    if (offset >= this.#prefix.length) return this.at(offset, length);
    return (await this.readPrefix(this.size)).subarray(offset);
  }

  async #read(offset: number, length: number): Promise<Buffer> {
    this.#reads += 1;
    const bytes = await this.#source.read(offset, length, this.signal);
    if (bytes.length !== length) throw new Error(`requested ${length} bytes of media, got ${bytes.length}`);
    return bytes;
  }
}
