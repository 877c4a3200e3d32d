/** Media in memory that counts reads of its ranges. `bytes` are followed by zeros, then by `tail`. */
export class CountedSource {
  readonly size: number;
  readonly head: Buffer;
  readonly #bytes: Buffer;
  readonly #tail: Buffer;
  reads = 0;
  bytesRead = 0;
  longestRead = 0;

  constructor(bytes: Buffer, { zeros = 0, tail = Buffer.alloc(0) }: { zeros?: number; tail?: Buffer } = {}) {
    this.size = bytes.length + zeros + tail.length;
    this.#bytes = bytes;
    this.#tail = tail;
    this.head = this.#range(0, Math.min(16 * 1024, this.size));
  }

  async read(offset: number, length: number): Promise<Buffer> {
    if (length < 1 || offset < 0 || offset + length > this.size) throw new RangeError(`${length} bytes from ${offset}`);
    this.reads += 1;
    this.bytesRead += length;
    this.longestRead = Math.max(this.longestRead, length);
    return this.#range(offset, length);
  }

  #range(offset: number, length: number): Buffer {
    const range = Buffer.alloc(length);
    this.#bytes.copy(range, 0, Math.min(offset, this.#bytes.length), offset + length);
    const tailAt = this.size - this.#tail.length - offset;
    this.#tail.copy(range, Math.max(0, tailAt), Math.max(0, -tailAt));
    return range;
  }
}
