import { freeChunk } from './free-chunk.ts';
import { blockBytes } from './part-size.ts';

const idleMs = 60_000;

/** Blocks of memory that are reused. Blocks of a burst are freed once no upload has needed them for a minute. */
export class BlockPool {
  readonly #spare: Buffer[] = [];
  #taken = 0;
  /** The fewest spare blocks within the current minute. */
  #idle = 0;
  #freeing: NodeJS.Timeout | undefined;

  /** Bytes in blocks that are in use. */
  get takenBytes(): number {
    return this.#taken * blockBytes;
  }

  /** @returns a block whose content is not cleared */
  take(): Buffer {
    this.#taken += 1;
    const block = this.#spare.pop();
    this.#idle = Math.min(this.#idle, this.#spare.length);
    return block ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** Takes back blocks that are no longer in use. Blocks that a request may still be sending are not reusable. */
  giveBack(blocks: readonly Buffer[], isReusable: boolean): void {
    this.#taken -= blocks.length;
    if (isReusable) this.#spare.push(...blocks);
    this.#freeIdleLater();
  }

  #freeIdleLater(): void {
    if (this.#freeing || this.#spare.length === 0) return;
    const free = () => {
      this.#freeing = undefined;
      for (const block of this.#spare.splice(0, this.#idle)) freeChunk(block);
      this.#idle = this.#spare.length;
      this.#freeIdleLater();
    };
    this.#freeing = setTimeout(free, idleMs).unref();
  }
}
