import { Checksum } from '../checksum.ts';
import type { CrowdedOut } from '../object-store.ts';
import { blockBytes, type Grant, type PartMemory, partBytes } from '../part-memory.ts';

/** One upload's part: filled from the source, sent, emptied, filled again. Disposing gives its memory back. */
export class UploadPart implements Disposable {
  readonly #memory: PartMemory;
  readonly #crowdOut: (reason: CrowdedOut) => void;
  #blocks: Buffer[] = [];
  #granted = 0;
  #lane = false;
  #size = 0;
  #checksum = new Checksum();
  /** Of all parts so far, once there is more than one. */
  #checksumOfAll: Checksum | undefined;

  /** `crowdOut` is called when its memory is needed by others. */
  constructor(memory: PartMemory, crowdOut: (reason: CrowdedOut) => void) {
    this.#memory = memory;
    this.#crowdOut = crowdOut;
  }

  /** Bytes that are in it. */
  get size(): number {
    return this.#size;
  }

  get full(): boolean {
    return this.#size === partBytes;
  }

  /** Of the bytes that are in it. */
  get checksum(): Checksum {
    return this.#checksum;
  }

  /** Of all bytes that were ever in it. */
  get checksumOfAll(): Checksum {
    return this.#checksumOfAll ?? this.#checksum;
  }

  /**
   * Copies from the beginning of `bytes` until they end or the part is full; a promise only where it must wait for memory.
   * @returns how many bytes it took
   * @throws the reason of `signal` when that aborts while it waits
   */
  fill(bytes: Buffer, signal: AbortSignal): number | Promise<number> {
    let taken = 0;
    while (taken < bytes.length && !this.full) {
      if (this.#size % blockBytes === 0) {
        const grant = this.#lane ? 'lane' : this.#memory.grantNow();
        if (!grant) return this.#fillLater(bytes, taken, signal);
        this.#grow(grant);
      }
      taken += this.#copy(bytes, taken);
    }
    return taken;
  }

  /** What is in it, in order; valid until it is emptied. */
  *bytes(): Iterable<Buffer> {
    let left = this.#size;
    for (const block of this.#blocks) {
      yield left < blockBytes ? block.subarray(0, left) : block;
      left -= blockBytes;
    }
  }

  /** Makes it empty. After a request that failed, its memory is not reused: if the store answered early, a socket may not have all of it yet. */
  empty({ hasFailed = false } = {}): void {
    this.#memory.end(this.#crowdOut);
    this.#memory.giveBack(this.#blocks, this.#granted, this.#lane, !hasFailed);
    this.#blocks = [];
    this.#granted = 0;
    this.#lane = false;
    this.#size = 0;
    this.#checksumOfAll ??= this.#checksum;
    this.#checksum = new Checksum();
  }

  [Symbol.dispose](): void {
    this.empty();
  }

  async #fillLater(bytes: Buffer, taken: number, signal: AbortSignal): Promise<number> {
    this.#grow(await this.#memory.grant(signal));
    const copied = taken + this.#copy(bytes, taken);
    return copied + (await this.fill(bytes.subarray(copied), signal));
  }

  #grow(grant: Grant): void {
    if (grant === 'lane') this.#lane = true;
    else this.#granted += 1;
    if (this.#blocks.length === 0) this.#memory.begin(this.#crowdOut);
    this.#blocks.push(this.#memory.takeBlock());
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
