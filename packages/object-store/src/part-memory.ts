import { CrowdedOut } from './object-store.ts';

/** Size of every part but the last. An upload that fits into one part is a single PUT. */
export const partBytes = 8 * 1024 * 1024;

/**
 * Unit of allocation, so that a small upload does not hold a whole part. Each block is one write to a socket. The default budget
 * (256 MiB) has more blocks than a gateway accepts concurrent uploads (1000), so slow senders cannot hold all.
 */
export const blockBytes = 128 * 1024;

const partBlocks = partBytes / blockBytes;

const maxWaitMs = 60_000;
// Long enough for a slow phone (100 kB/s) to fill a part.
const defaultPatienceMs = 120_000;
const idleMs = 60_000;

/** One block, or a lane: enough memory for the rest of a part. */
export type Grant = 'block' | 'lane';

/**
 * Memory for parts, shared by all uploads of a process. When it is exhausted, uploads wait in order of arrival.
 *
 * Uploads that all wait in the middle of a part would deadlock. So a quarter of the memory is reserved as lanes of one part each:
 * an upload that finds no free block gets a lane, in which it can finish its part without waiting.
 * While uploads wait, those that have been filling one part for longer than `patienceMs` are crowded out, oldest first.
 */
export class PartMemory {
  readonly #waiting = new Set<(grant: Grant) => void>();
  readonly #spare: Buffer[] = [];
  /** Callbacks that crowd out the uploads that hold memory, with the start of the current part; oldest first. */
  readonly #holders = new Map<(reason: CrowdedOut) => void, number>();
  readonly #patienceMs: number;
  #crowding: NodeJS.Timeout | undefined;
  #freeBlocks: number;
  #freeLanes: number;
  #held = 0;
  #allocated = 0;
  /** The fewest spare blocks within the current minute. */
  #idle = 0;
  #dropping: NodeJS.Timeout | undefined;

  /** @throws RangeError for less than one part */
  constructor(bytes: number, patienceMs = defaultPatienceMs) {
    this.#patienceMs = patienceMs;
    if (!(bytes >= partBytes)) throw new RangeError(`part memory must hold a part of ${partBytes} bytes`);
    this.#freeLanes = Math.max(1, Math.floor(bytes / 4 / partBytes));
    this.#freeBlocks = Math.floor(bytes / blockBytes) - this.#freeLanes * partBlocks;
  }

  /** Bytes in allocated blocks. */
  get heldBytes(): number {
    return this.#held * blockBytes;
  }

  /** Number of waiting uploads. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Undefined if nothing is free or other uploads wait. */
  tryGrant(): Grant | undefined {
    return this.#waiting.size === 0 ? this.#next() : undefined;
  }

  /** Waits up to a minute. @throws CrowdedOut, or the reason of `signal` */
  async grant(signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    const now = this.tryGrant();
    if (now) return now;
    const { promise, resolve, reject } = Promise.withResolvers<Grant>();
    const stop = () => {
      this.#waiting.delete(resolve);
      reject(signal.aborted ? signal.reason : new CrowdedOut('no memory for the upload'));
    };
    const timer = setTimeout(stop, maxWaitMs).unref();
    signal.addEventListener('abort', stop);
    this.#waiting.add(resolve);
    this.#crowdOutWhenDue();
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
  }

  /** Takes the granted block; its content is not cleared. */
  takeBlock(): Buffer {
    this.#held += 1;
    const block = this.#spare.pop();
    this.#idle = Math.min(this.#idle, this.#spare.length);
    return block ?? this.#allocateBlock();
  }

  /** Call when an upload starts a part; `crowdOut` revokes its memory. */
  begin(crowdOut: (reason: CrowdedOut) => void): void {
    this.#holders.set(crowdOut, performance.now());
  }

  /** Call when the upload of `crowdOut` no longer holds memory. */
  end(crowdOut: (reason: CrowdedOut) => void): void {
    this.#holders.delete(crowdOut);
  }

  /** Releases blocks, `granted` of them not from a lane. They are not reusable if a request may still be sending them. */
  release(blocks: readonly Buffer[], granted: number, hasLane: boolean, isReusable: boolean): void {
    this.#held -= blocks.length;
    if (blocks.length === partBlocks) freeBodyChunks();
    if (isReusable) this.#spare.push(...blocks);
    this.#dropIdleLater();
    this.#freeBlocks += granted;
    if (hasLane) this.#freeLanes += 1;
    for (const resume of this.#waiting) {
      const grant = this.#next();
      if (!grant) return;
      this.#waiting.delete(resume);
      resume(grant);
    }
  }

  #allocateBlock(): Buffer {
    this.#allocated += 1;
    if (this.#allocated % partBlocks === 0) freeBodyChunks();
    return Buffer.allocUnsafeSlow(blockBytes);
  }

  // Drops the blocks of a burst when no upload has needed them for a minute.
  #dropIdleLater(): void {
    if (this.#dropping || this.#spare.length === 0) return;
    const drop = () => {
      this.#dropping = undefined;
      // An idle process would not free them by itself.
      if (this.#spare.splice(0, this.#idle).length >= partBlocks) globalThis.gc?.({ type: 'major' });
      this.#idle = this.#spare.length;
      this.#dropIdleLater();
    };
    this.#dropping = setTimeout(drop, idleMs).unref();
  }

  #crowdOutWhenDue(): void {
    const [oldest] = this.#holders;
    if (this.#crowding || !oldest || this.#waiting.size === 0) return;
    const [crowdOut, since] = oldest;
    const due = () => {
      this.#crowding = undefined;
      if (this.#waiting.size > 0 && this.#holders.get(crowdOut) === since) {
        this.#holders.delete(crowdOut);
        crowdOut(new CrowdedOut('other uploads needed the memory of this slow one'));
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

/**
 * Frees body chunks that were copied into blocks. V8 counts objects, not the bytes that they hold, and keeps about 70 MiB of chunks. Uploads
 * of less than a part into reused blocks, the usual case, need no call. Without `node --expose-gc` it does nothing: a context
 * from node:vm has `gc` too, but a second context costs the gateway 15 % or more.
 */
function freeBodyChunks(): void {
  globalThis.gc?.({ type: 'minor' });
}
