import { BlockPool } from './block-pool.ts';
import {
  blocksOf,
  findUploadToCrowdOut,
  type HeldPart,
  isSlow,
  type PartHolder,
  partBlocks,
  type WaitingUpload,
} from './crowd-out.ts';
import { CrowdedOut } from './object-store.ts';
import { blockBytes, partBytes } from './part-size.ts';

const maxWaitMs = 60_000;
// A slow phone (100 kB/s) fills a part in this time.
const defaultPatienceMs = 120_000;
// After this time, the memory of an upload that was crowded out has reached waiting uploads.
const crowdingPauseMs = 100;

/**
 * Memory for parts, shared by all uploads of a process. When it is exhausted, uploads wait: those of the sender with the least memory come
 * first, then the earliest. Meanwhile others are crowded out, one at a time (crowd-out.ts).
 *
 * Uploads that all wait in the middle of a part would deadlock. So a quarter of the memory is reserved as lanes of one part each:
 * an upload that finds no free block gets a lane, in which it can finish its part without waiting.
 */
export class PartMemory {
  /** Waiting uploads by the callbacks of their grants, in order of arrival. */
  readonly #waiting = new Map<() => void, WaitingUpload>();
  readonly #pool = new BlockPool();
  /** Parts that hold memory, the oldest first. */
  readonly #parts = new Map<PartHolder, HeldPart>();
  /** Blocks granted to each sender, also those of its lanes, and for a minute those from which its uploads were crowded out. */
  readonly #granted = new Map<string, number>();
  readonly #patienceMs: number;
  #crowding: NodeJS.Timeout | undefined;
  #freeBlocks: number;
  #freeLanes: number;

  /** @param patienceMs how long an upload may fill one part while others wait @throws RangeError for less than one part */
  constructor(bytes: number, patienceMs = defaultPatienceMs) {
    this.#patienceMs = patienceMs;
    if (!(bytes >= partBytes)) throw new RangeError(`part memory must hold a part of ${partBytes} bytes`);
    this.#freeLanes = Math.max(1, Math.floor(bytes / 4 / partBytes));
    this.#freeBlocks = Math.floor(bytes / blockBytes) - this.#freeLanes * partBlocks;
  }

  /** Bytes in allocated blocks. */
  get heldBytes(): number {
    return this.#pool.takenBytes;
  }

  /** Number of waiting uploads. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether the upload gets its next block now. It does not if no block is free or other uploads wait. */
  tryGrant(holder: PartHolder): boolean {
    return this.#parts.get(holder)?.hasLane || (this.#waiting.size === 0 && this.#next(holder));
  }

  /** Waits up to a minute for the next block. @throws CrowdedOut, or the reason of `signal` */
  async grant(holder: PartHolder, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryGrant(holder)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => {
      const isOwnShare = this.#isOwnShare(holder);
      this.#waiting.delete(resolve);
      reject(signal.aborted ? signal.reason : new CrowdedOut('no memory for the upload', isOwnShare));
    };
    const timer = setTimeout(stop, maxWaitMs).unref();
    signal.addEventListener('abort', stop);
    const since = performance.now();
    const part = this.#parts.get(holder);
    this.#waiting.set(resolve, { holder, since, isSlow: part !== undefined && isSlow(part, since) });
    if (part) part.fillingSince = undefined;
    this.#crowding ??= setTimeout(() => this.#crowdOut(), 0).unref();
    await promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
  }

  /** Takes the granted block; its content is not cleared. */
  takeBlock(holder: PartHolder): Buffer {
    const part = this.#parts.get(holder);
    if (part) part.fillingSince = performance.now();
    return this.#pool.take();
  }

  /** The part gets no more bytes. */
  startSending(holder: PartHolder): void {
    const part = this.#parts.get(holder);
    if (part) part.isBeingSent = true;
  }

  /** Takes back the blocks of an upload. Blocks that a request may still be sending are not reusable. */
  end(holder: PartHolder, blocks: readonly Buffer[], isReusable: boolean): void {
    const part = this.#parts.get(holder);
    if (!part) return;
    this.#parts.delete(holder);
    this.#pool.giveBack(blocks, isReusable);
    this.#freeBlocks += part.blocks;
    if (part.hasLane) this.#freeLanes += 1;
    const forget = () => this.#count(holder.sender, -blocksOf(part));
    // Otherwise the next upload of the sender would come as early as one of a sender that has held nothing.
    if (part.isCrowdedOut) setTimeout(forget, maxWaitMs).unref();
    else forget();
    while (this.#waiting.size > 0 && this.#freeBlocks + this.#freeLanes > 0) this.#serveOne();
  }

  #serveOne(): void {
    const [resume, { holder }] = this.#nextWaiting();
    this.#waiting.delete(resume);
    this.#next(holder);
    resume();
  }

  /** The upload that is served next. */
  #nextWaiting(): [() => void, WaitingUpload] {
    return [...this.#waiting].reduce((least, each) =>
      this.#grantedTo(each[1].holder.sender) < this.#grantedTo(least[1].holder.sender) ? each : least,
    );
  }

  #grantedTo(sender: string): number {
    return this.#granted.get(sender) ?? 0;
  }

  /**
   * Whether the sender's other uploads took the memory: they hold at least what the next one in line of another sender would hold with that of
   * this upload. If no other sender waits, at least what any other sender holds.
   */
  #isOwnShare(holder: PartHolder): boolean {
    const { sender } = holder;
    const blocks = blocksOf(this.#parts.get(holder));
    const others = this.#grantedTo(sender) - blocks;
    const ofRivals = [...this.#waiting.values()]
      .filter((each) => each.holder.sender !== sender)
      .map((each) => this.#grantedTo(each.holder.sender) + blocks);
    const ofHolders = [...this.#granted].map(([each, granted]) => (each === sender ? 0 : granted));
    return others > 0 && others >= (ofRivals.length > 0 ? Math.min(...ofRivals) : Math.max(...ofHolders));
  }

  #count(sender: string, change: number): void {
    const granted = this.#grantedTo(sender) + change;
    if (granted > 0) this.#granted.set(sender, granted);
    else this.#granted.delete(sender);
  }

  #crowdOut(): void {
    this.#crowding = undefined;
    if (this.#waiting.size === 0) return;
    const [, next] = this.#nextWaiting();
    const grantedTo = (sender: string) => this.#grantedTo(sender);
    const waiting = [...this.#waiting.values()];
    const holder = findUploadToCrowdOut({
      parts: this.#parts,
      waiting,
      next,
      grantedTo,
      patienceMs: this.#patienceMs,
    });
    const part = holder && this.#parts.get(holder);
    if (part) {
      part.isCrowdedOut = true;
      holder.crowdOut(new CrowdedOut('other uploads needed the memory of this slow one', this.#isOwnShare(holder)));
    }
    this.#crowding = setTimeout(() => this.#crowdOut(), crowdingPauseMs).unref();
  }

  /** Takes a free block or lane for the upload. */
  #next(holder: PartHolder): boolean {
    if (this.#freeBlocks + this.#freeLanes === 0) return false;
    const part = this.#parts.get(holder) ?? {
      since: performance.now(),
      blocks: 0,
      hasLane: false,
      fillingSince: undefined,
      isBeingSent: false,
      isCrowdedOut: false,
    };
    this.#parts.set(holder, part);
    const before = blocksOf(part);
    if (this.#freeBlocks > 0) {
      this.#freeBlocks -= 1;
      part.blocks += 1;
    } else {
      this.#freeLanes -= 1;
      part.hasLane = true;
    }
    this.#count(holder.sender, blocksOf(part) - before);
    return true;
  }
}
