import { freeChunk } from './free-chunk.ts';
import { CrowdedOut } from './object-store.ts';

/** Size of every part but the last. An upload that fits into one part is a single PUT. */
export const partBytes = 8 * 1024 * 1024;

/** Unit of allocation, so that a small upload does not hold a whole part. Each block is one write to a socket. */
export const blockBytes = 128 * 1024;

const partBlocks = partBytes / blockBytes;

const maxWaitMs = 60_000;
// Long enough for a slow phone (100 kB/s) to fill a part.
const defaultPatienceMs = 120_000;
// To fill a block: 16 KiB/s.
const slowBlockMs = 8000;
// Until an upload that waits gets the memory of a sender that has more.
const fairWaitMs = 5000;
// Until the memory of an upload that was crowded out has reached those that wait.
const crowdingPauseMs = 100;
const idleMs = 60_000;

/** An upload that takes part memory. */
export interface PartHolder {
  /** Whose upload it is: senders share the memory. */
  readonly sender: string;
  /** Ends the upload, because others need its memory. */
  readonly crowdOut: (reason: CrowdedOut) => void;
}

/** The part that an upload fills or sends. */
interface HeldPart {
  /** By `performance.now`. */
  readonly since: number;
  /** Granted blocks, without those of a lane. */
  blocks: number;
  /** A lane is enough memory for the rest of the part. */
  hasLane: boolean;
  /** Since when it fills its last block; undefined while it waits for a block. */
  fillingSince: number | undefined;
  isBeingSent: boolean;
  isCrowdedOut: boolean;
}

interface WaitingUpload {
  readonly holder: PartHolder;
  readonly since: number;
  /** Whether it took long to fill its last block. */
  readonly isSlow: boolean;
}

/**
 * Memory for parts, shared by all uploads of a process. When it is exhausted, uploads wait: those of the sender with the least memory come
 * first, then the earliest.
 *
 * Uploads that all wait in the middle of a part would deadlock. So a quarter of the memory is reserved as lanes of one part each:
 * an upload that finds no free block gets a lane, in which it can finish its part without waiting.
 *
 * While uploads wait, others are crowded out, one at a time: of the sender that holds most, the oldest part (docs/decisions/002).
 * - A slow upload (16 KiB/s), if another sender's upload waits that is not slow.
 * - An upload that fills one part for longer than `patienceMs`.
 * - Once the next upload to be served has waited five seconds: one whose memory leaves its sender with as much as that one then has.
 */
export class PartMemory {
  /** By the callbacks of their grants, in order of arrival. */
  readonly #waiting = new Map<() => void, WaitingUpload>();
  readonly #spare: Buffer[] = [];
  /** Oldest first. */
  readonly #parts = new Map<PartHolder, HeldPart>();
  /** Blocks granted to each sender, also those of its lanes, and for a minute those from which its uploads were crowded out. */
  readonly #granted = new Map<string, number>();
  readonly #patienceMs: number;
  #crowding: NodeJS.Timeout | undefined;
  #freeBlocks: number;
  #freeLanes: number;
  #held = 0;
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

  /** Whether the upload gets its next block now: not if nothing is free or other uploads wait. */
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
    this.#held += 1;
    const block = this.#spare.pop();
    this.#idle = Math.min(this.#idle, this.#spare.length);
    return block ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** Call when the part gets no more bytes. */
  startSending(holder: PartHolder): void {
    const part = this.#parts.get(holder);
    if (part) part.isBeingSent = true;
  }

  /** Call when an upload no longer holds its blocks. They are not reusable if a request may still be sending them. */
  end(holder: PartHolder, blocks: readonly Buffer[], isReusable: boolean): void {
    const part = this.#parts.get(holder);
    if (!part) return;
    this.#parts.delete(holder);
    this.#held -= blocks.length;
    if (isReusable) this.#spare.push(...blocks);
    this.#dropIdleLater();
    this.#freeBlocks += part.blocks;
    if (part.hasLane) this.#freeLanes += 1;
    const forget = () => this.#count(holder.sender, -sizeOf(part));
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

  /** Whether the sender's other uploads took the memory: they hold at least what the next one in line would hold with that of this upload. */
  #isOwnShare(holder: PartHolder): boolean {
    const part = this.#parts.get(holder);
    const size = part ? sizeOf(part) : 0;
    const others = this.#grantedTo(holder.sender) - size;
    const [, next] = this.#nextWaiting();
    return others > 0 && others >= this.#grantedTo(next.holder.sender) + size;
  }

  #count(sender: string, change: number): void {
    const granted = this.#grantedTo(sender) + change;
    if (granted > 0) this.#granted.set(sender, granted);
    else this.#granted.delete(sender);
  }

  // Drops the blocks of a burst when no upload has needed them for a minute.
  #dropIdleLater(): void {
    if (this.#dropping || this.#spare.length === 0) return;
    const drop = () => {
      this.#dropping = undefined;
      for (const block of this.#spare.splice(0, this.#idle)) freeChunk(block);
      this.#idle = this.#spare.length;
      this.#dropIdleLater();
    };
    this.#dropping = setTimeout(drop, idleMs).unref();
  }

  #crowdOut(): void {
    this.#crowding = undefined;
    if (this.#waiting.size === 0) return;
    const due = this.#findDue();
    if (due) {
      due.part.isCrowdedOut = true;
      const isOwnShare = this.#isOwnShare(due.holder);
      due.holder.crowdOut(new CrowdedOut('other uploads needed the memory of this slow one', isOwnShare));
    }
    this.#crowding = setTimeout(() => this.#crowdOut(), crowdingPauseMs).unref();
  }

  #findDue() {
    const now = performance.now();
    const [, next] = this.#nextWaiting();
    const least = this.#grantedTo(next.holder.sender);
    const fast = new Set([...this.#waiting.values()].flatMap((each) => (each.isSlow ? [] : [each.holder.sender])));
    let due: { holder: PartHolder; part: HeldPart; most: number } | undefined;
    for (const [holder, part] of this.#parts) {
      const { sender } = holder;
      const most = this.#grantedTo(sender);
      if (part.isBeingSent || part.isCrowdedOut || (due && due.most >= most)) continue;
      const isOvertaken = isSlow(part, now) && fast.size > (fast.has(sender) ? 1 : 0);
      const isOld = now - part.since >= this.#patienceMs;
      const isMore = most - sizeOf(part) >= least + sizeOf(part);
      if (isOvertaken || isOld || (isMore && now - Math.max(part.since, next.since) >= fairWaitMs))
        due = { holder, part, most };
    }
    return due;
  }

  /** Takes a free block or lane for the upload. */
  #next(holder: PartHolder): boolean {
    if (this.#freeBlocks + this.#freeLanes === 0) return false;
    const part = this.#parts.get(holder) ?? {
      ...{ since: performance.now(), blocks: 0, hasLane: false },
      ...{ fillingSince: undefined, isBeingSent: false, isCrowdedOut: false },
    };
    this.#parts.set(holder, part);
    const before = sizeOf(part);
    if (this.#freeBlocks > 0) {
      this.#freeBlocks -= 1;
      part.blocks += 1;
    } else {
      this.#freeLanes -= 1;
      part.hasLane = true;
    }
    this.#count(holder.sender, sizeOf(part) - before);
    return true;
  }
}

/** In blocks. */
function sizeOf({ blocks, hasLane }: HeldPart): number {
  return blocks + (hasLane ? partBlocks : 0);
}

function isSlow({ fillingSince }: HeldPart, now: number): boolean {
  return fillingSince !== undefined && now - fillingSince >= slowBlockMs;
}
