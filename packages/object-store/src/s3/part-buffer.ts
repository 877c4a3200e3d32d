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
  /** Whether a request has read the content. */
  #isRead = false;
  #checksum = new Checksum();
  /** Over all parts so far, once there is more than one. */
  #checksumOfAll: Checksum | undefined;

  /** `before`: the checksum of the upload's bytes before this part, if any. */
  constructor(memory: PartMemory, holder: PartHolder, before?: Checksum) {
    this.#memory = memory;
    this.#holder = holder;
    this.#checksumOfAll = before;
  }

  /** Bytes in the buffer. */
  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size === partBytes;
  }

  /** Over the bytes in the buffer. */
  get checksum(): Checksum {
    return this.#checksum;
  }

  /** Over all bytes of the upload so far. */
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
      if (this.#size % blockBytes === 0) {
        if (!this.#memory.tryGrant(this.#holder)) return this.#fillLater(bytes, taken, signal);
        this.#grow();
      }
      taken += this.#copy(bytes, taken);
    }
    return taken;
  }

  /** The content; valid until it is emptied. */
  *bytes(): Iterable<Buffer> {
    this.#isRead = true;
    this.startSending();
    let remaining = this.#size;
    for (const block of this.#blocks) {
      yield remaining < blockBytes ? block.subarray(0, remaining) : block;
      remaining -= blockBytes;
    }
  }

  /** Call when the part gets no more bytes, if its content is not read soon. */
  startSending(): void {
    this.#memory.startSending(this.#holder);
  }

  /** Empties it. The memory that a failed request has read is not reused: a socket may still be sending it. */
  empty({ hasFailed = false } = {}): void {
    this.#memory.end(this.#holder, this.#blocks, !(hasFailed && this.#isRead));
    this.#blocks = [];
    this.#size = 0;
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

  #grow(): void {
    this.#blocks.push(this.#memory.takeBlock(this.#holder));
  }

  #copy(bytes: Buffer, from: number): number {
    const copied = bytes.copy(this.#blocks.at(-1) as Buffer, this.#size % blockBytes, from);
    this.#size += copied;
    const piece = copied === bytes.length ? bytes : bytes.subarray(from, from + copied);
    this.#checksum.add(piece);
    this.#checksumOfAll?.add(piece);
    return copied;
  }
}
