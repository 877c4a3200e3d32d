import { Checksum } from '../checksum.ts';
import type { PartHolder } from '../crowd-out.ts';
import type { PartMemory } from '../part-memory.ts';
import { blockBytes, partBytes } from '../part-size.ts';

/** Buffer for the parts of one upload: filled, sent, emptied, filled again. Disposing releases its memory. */
export class PartBuffer implements Disposable {
  readonly #memory: PartMemory;
  readonly #holder: PartHolder;
  #blocks: Buffer[] = [];
  #size = 0;
  #capacity: number;
  /** Where the first byte is: behind it are those that came in by `fillBefore`. */
  #start = 0;
  /** Whether a request has read the content. */
  #isRead = false;
  #checksum = new Checksum();
  /** The checksum of all parts so far, once there is more than one. */
  #checksumOfAll: Checksum | undefined;

  /**
   * @param before the checksum of the upload's bytes before those that are filled in, if any
   * @param reserved how many bytes of the first part come in by `fillBefore`
   */
  constructor(memory: PartMemory, holder: PartHolder, before?: Checksum, reserved = 0) {
    this.#memory = memory;
    this.#holder = holder;
    this.#checksumOfAll = before;
    this.#capacity = partBytes - reserved;
  }

  /** Bytes in the buffer. */
  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size === this.#capacity;
  }

  /** The checksum of the bytes in the buffer. */
  get checksum(): Checksum {
    return this.#checksum;
  }

  /** The checksum of all bytes of the upload so far. */
  get checksumOfAll(): Checksum {
    return this.#checksumOfAll ?? this.#checksum;
  }

  /**
   * Copies `bytes` until the part is full. @returns the number of copied bytes, as a promise only if it waits for memory
   * @throws CrowdedOut, or the reason of `signal`
   */
  fill(bytes: Buffer, signal: AbortSignal): number | Promise<number> {
    let taken = 0;
    while (taken < bytes.length && !this.isFull) {
      if (this.#size === this.#blocks.length * blockBytes) {
        if (!this.#memory.tryGrant(this.#holder)) return this.#fillLater(bytes, taken, signal);
        this.#grow();
      }
      taken += this.#copy(bytes, taken);
    }
    return taken;
  }

  /**
   * Puts the bytes that `fillIn` adds before those that the buffer has, into the reserved bytes. If it fails, the buffer is as before.
   * @param before the checksum of the upload's bytes before them; while `fillIn` runs, `checksumOfAll` begins there
   */
  async fillBefore(before: Checksum, fillIn: () => Promise<void>): Promise<void> {
    const size = this.#size;
    const checksum = this.#checksum;
    const checksumOfAll = this.#checksumOfAll;
    const capacity = this.#capacity;
    [this.#capacity, this.#checksum, this.#checksumOfAll] = [partBytes, new Checksum(), before];
    try {
      await fillIn();
      for (const piece of this.#pieces(0, size)) this.#checksum.add(piece);
      this.#start = size;
    } catch (error) {
      [this.#size, this.#capacity, this.#checksum] = [size, capacity, checksum];
      throw error;
    } finally {
      this.#checksumOfAll = checksumOfAll;
    }
  }

  /** The content, which is valid until the buffer is emptied. */
  *bytes(): Iterable<Buffer> {
    this.#isRead = true;
    this.startSending();
    yield* this.#pieces(this.#start, this.#size);
    yield* this.#pieces(0, this.#start);
  }

  /** The part gets no more bytes, although its content is not read soon. */
  startSending(): void {
    this.#memory.startSending(this.#holder);
  }

  /** Empties the buffer. Memory that a failed request has read is not reused: a socket may still be sending it. */
  empty({ hasFailed = false } = {}): void {
    this.#memory.end(this.#holder, this.#blocks, !(hasFailed && this.#isRead));
    this.#blocks = [];
    [this.#size, this.#start, this.#capacity] = [0, 0, partBytes];
    this.#isRead = false;
    this.#checksumOfAll ??= this.#checksum;
    this.#checksum = new Checksum();
  }

  [Symbol.dispose](): void {
    this.empty();
  }

  async #fillLater(bytes: Buffer, taken: number, signal: AbortSignal): Promise<number> {
    await this.#memory.grant(this.#holder, signal);
    this.#grow();
    const copied = taken + this.#copy(bytes, taken);
    return copied + (await this.fill(bytes.subarray(copied), signal));
  }

  *#pieces(from: number, to: number): Iterable<Buffer> {
    for (let at = from; at < to; ) {
      const offset = at % blockBytes;
      const piece = (this.#blocks[(at - offset) / blockBytes] as Buffer).subarray(offset, offset + to - at);
      yield piece;
      at += piece.length;
    }
  }

  #grow(): void {
    this.#blocks.push(this.#memory.takeBlock(this.#holder));
  }

  #copy(bytes: Buffer, from: number): number {
    const offset = this.#size % blockBytes;
    const block = this.#blocks[(this.#size - offset) / blockBytes] as Buffer;
    const copied = bytes.copy(block, offset, from, from + this.#capacity - this.#size);
    this.#size += copied;
    const piece = copied === bytes.length ? bytes : bytes.subarray(from, from + copied);
    this.#checksum.add(piece);
    this.#checksumOfAll?.add(piece);
    return copied;
  }
}
