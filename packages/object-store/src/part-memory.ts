import { CrowdedOut } from './object-store.ts';

/** The size of every part but the last of a large upload; what fits into one part is a single PUT. */
export const partBytes = 8 * 1024 * 1024;

/**
 * Memory is handed out in blocks, so that a small upload does not hold a whole part. Each is one write to a socket, and the usual budget has more
 * of them than a gateway takes uploads at once (256 MiB, 1000): senders that dribble cannot hold all.
 */
export const blockBytes = 128 * 1024;

const partBlocks = partBytes / blockBytes;

// How long an upload waits for memory.
const waitMs = 60_000;
// Long enough for an honest phone (100 kB/s) to fill a part.
const usualPatienceMs = 120_000;

/** What an upload may use next: one block, or a lane: enough to fill its part to the end. */
export type Grant = 'block' | 'lane';

/**
 * The memory for parts that all uploads of a process share. When it is spent, uploads wait, first come first served.
 *
 * Uploads that all wait in the middle of a part would wait for each other for ever. So a quarter of the memory is kept
 * as lanes of one part each: whoever finds no block gets a lane, and in it reaches the end of its part without waiting.
 * And while anybody waits, who has been filling the same part for longer than `patienceMs` is crowded out, the oldest first: senders
 * that dribble cannot keep the memory from those that do not.
 */
export class PartMemory {
  readonly #waiting = new Set<(grant: Grant) => void>();
  readonly #spare: Buffer[] = [];
  /** How to crowd out each upload that holds memory, and since when it fills its part; the oldest first. */
  readonly #holders = new Map<(reason: CrowdedOut) => void, number>();
  readonly #patienceMs: number;
  #crowding: NodeJS.Timeout | undefined;
  #freeBlocks: number;
  #freeLanes: number;
  #held = 0;

  /** @throws RangeError for less than one part */
  constructor(bytes: number, patienceMs = usualPatienceMs) {
    this.#patienceMs = patienceMs;
    if (!(bytes >= partBytes)) throw new RangeError(`part memory must hold a part of ${partBytes} bytes`);
    this.#freeLanes = Math.max(1, Math.floor(bytes / 4 / partBytes));
    this.#freeBlocks = Math.floor(bytes / blockBytes) - this.#freeLanes * partBlocks;
  }

  /** Bytes in blocks that uploads hold at this moment. */
  get heldBytes(): number {
    return this.#held * blockBytes;
  }

  /** Uploads that wait for memory at this moment. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A block or a lane where there is one and nobody waits for it. */
  grantNow(): Grant | undefined {
    return this.#waiting.size === 0 ? this.#next() : undefined;
  }

  /** Waits for a block or a lane. @throws CrowdedOut after a minute, or the reason of `signal` */
  async grant(signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    const now = this.grantNow();
    if (now) return now;
    return new Promise((resolve, reject) => {
      const given = (grant: Grant) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stopped);
        resolve(grant);
      };
      const stopped = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stopped);
        this.#waiting.delete(given);
        reject(signal.aborted ? signal.reason : new CrowdedOut('there was no memory for an upload'));
      };
      const timer = setTimeout(stopped, waitMs).unref();
      signal.addEventListener('abort', stopped);
      this.#waiting.add(given);
      this.#crowdOutWhenDue();
    });
  }

  /** The block of a grant, with whatever it held before. */
  takeBlock(): Buffer {
    this.#held += 1;
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** An upload begins to fill a part; `crowdOut` takes its memory away. */
  begin(crowdOut: (reason: CrowdedOut) => void): void {
    this.#holders.set(crowdOut, performance.now());
  }

  /** The upload that `crowdOut` belongs to has nothing any more. */
  end(crowdOut: (reason: CrowdedOut) => void): void {
    this.#holders.delete(crowdOut);
  }

  /**
   * Gives back blocks, `granted` of them by grants of their own and the others from a lane, and the lane if there was one. Unless they are
   * reusable, a request may still be writing them.
   */
  giveBack(blocks: readonly Buffer[], granted: number, lane: boolean, isReusable: boolean): void {
    this.#held -= blocks.length;
    if (isReusable) this.#spare.push(...blocks);
    this.#freeBlocks += granted;
    if (lane) this.#freeLanes += 1;
    for (const given of this.#waiting) {
      const grant = this.#next();
      if (!grant) return;
      this.#waiting.delete(given);
      given(grant);
    }
  }

  #crowdOutWhenDue(): void {
    const [oldest] = this.#holders;
    if (this.#crowding || !oldest || this.#waiting.size === 0) return;
    const [crowdOut, since] = oldest;
    const due = () => {
      this.#crowding = undefined;
      if (this.#waiting.size > 0 && this.#holders.get(crowdOut) === since) {
        this.#holders.delete(crowdOut);
        crowdOut(new CrowdedOut('the memory of a slow upload was needed by others'));
      }
      this.#crowdOutWhenDue();
    };
    this.#crowding = setTimeout(due, Math.max(0, since + this.#patienceMs - performance.now())).unref();
  }

  #next(): Grant | undefined {
    if (this.#freeBlocks > 0) {
      this.#freeBlocks -= 1;
      return 'block';
    }
    if (this.#freeLanes > 0) {
      this.#freeLanes -= 1;
      return 'lane';
    }
    return undefined;
  }
}
