const blockBytes = 16 * 1024;
// A Buffer has an overhead of some 400 bytes.
const smallestKept = 4 * 1024;

/** A queue of bytes with little overhead: small pieces are copied together, large ones are kept. */
export class ByteQueue {
  #pieces: Buffer[] = [];
  #block = Buffer.alloc(0);
  /** The range of the block that is not in `#pieces` yet. */
  #start = 0;
  #end = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    this.#length += bytes.length;
    if (bytes.length >= smallestKept) {
      this.#seal();
      this.#pieces.push(bytes);
      return;
    }
    for (let copied = 0; copied < bytes.length; ) {
      if (this.#end === this.#block.length) this.#nextBlock();
      const more = bytes.copy(this.#block, this.#end, copied);
      copied += more;
      this.#end += more;
    }
  }

  /** Removes and returns the next piece; undefined if empty. */
  shift(): Buffer | undefined {
    if (this.#pieces.length === 0) this.#seal();
    const next = this.#pieces.shift();
    this.#length -= next?.length ?? 0;
    return next;
  }

  clear(): void {
    this.#pieces = [];
    this.#block = Buffer.alloc(0);
    [this.#start, this.#end, this.#length] = [0, 0, 0];
  }

  #seal(): void {
    if (this.#end > this.#start) this.#pieces.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  #nextBlock(): void {
    this.#seal();
    this.#block = Buffer.allocUnsafeSlow(blockBytes);
    [this.#start, this.#end] = [0, 0];
  }
}
