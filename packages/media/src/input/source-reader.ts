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
 * Reads media with few requests: bytes of the head or of the latest window of 64 KiB are not requested again. Fewer bytes
 * than requested are returned at the end of the media only. Callers must limit their loops.
 */
export class SourceReader {
  readonly size: number;
  /** The first bytes, up to 16 KiB. */
  readonly head: Buffer;
  readonly signal: AbortSignal;
  readonly #source: RangedSource;
  #reads = 0;
  #window: { readonly offset: number; readonly bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };

  constructor(source: RangedSource, signal: AbortSignal) {
    this.size = source.size;
    this.head = source.head;
    this.signal = signal;
    this.#source = source;
  }

  /** The number of requests. */
  get reads(): number {
    return this.#reads;
  }

  /** `length` bytes from `offset`, in at most one request. */
  async at(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (wanted === 0) return Buffer.alloc(0);
    if (offset + wanted <= this.head.length) return this.head.subarray(offset, offset + wanted);
    const { offset: start, bytes } = this.#window;
    if (offset < start || offset + wanted > start + bytes.length) {
      const windowLength = Math.min(Math.max(wanted, windowBytes), this.size - offset);
      this.#window = { offset, bytes: await this.#read(offset, windowLength) };
    }
    return this.#window.bytes.subarray(offset - this.#window.offset, offset - this.#window.offset + wanted);
  }

  async #read(offset: number, length: number): Promise<Buffer> {
    this.#reads += 1;
    const bytes = await this.#source.read(offset, length, this.signal);
    if (bytes.length !== length) throw new Error(`requested ${length} bytes of media, got ${bytes.length}`);
    return bytes;
  }
}
