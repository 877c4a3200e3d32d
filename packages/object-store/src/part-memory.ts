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
// Long enough for a fast sender (1.7 MB/s) to fill a part.
const greedyPatienceMs = 5000;
// Until the memory of an upload that was crowded out has reached those that wait.
const crowdingPauseMs = 100;
const idleMs = 60_000;

/** One block, or a lane: enough memory for the rest of a part. */
export type Grant = 'block' | 'lane';

/** An upload that takes part memory. */
export interface PartHolder {
  /** Whose upload it is: senders share the memory. */
  readonly sender: string;
  /** Ends the upload, because others need its memory. */
  readonly crowdOut: (reason: CrowdedOut) => void;
}

/**
 * Memory for parts, shared by all uploads of a process. When it is exhausted, uploads wait: those of the sender with the least memory come
 * first, then the earliest.
 *
 * Uploads that all wait in the middle of a part would deadlock. So a quarter of the memory is reserved as lanes of one part each:
 * an upload that finds no free block gets a lane, in which it can finish its part without waiting.
 * While uploads wait, those that have been filling one part for longer than `patienceMs` are crowded out, oldest first. If a sender holds
 * at least two parts more than one that waits, five seconds are enough: one user could otherwise keep all memory from the others.
 */
export class PartMemory {
  /** Callbacks of the uploads that wait, with their senders, in order of arrival. */
  readonly #waiting = new Map<(grant: Grant) => void, string>();
  readonly #spare: Buffer[] = [];
  /** The uploads that hold memory, with the start of the current part; oldest first. */
  readonly #holders = new Map<PartHolder, number>();
  /** Blocks granted to each sender, also those of its lanes. */
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

  /** Undefined if nothing is free or other uploads wait. */
  tryGrant({ sender }: PartHolder): Grant | undefined {
    return this.#waiting.size === 0 ? this.#next(sender) : undefined;
  }

  /** Waits up to a minute. @throws CrowdedOut, or the reason of `signal` */
  async grant(holder: PartHolder, signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    const now = this.tryGrant(holder);
    if (now) return now;
    const { promise, resolve, reject } = Promise.withResolvers<Grant>();
    const stop = () => {
      this.#waiting.delete(resolve);
      reject(signal.aborted ? signal.reason : new CrowdedOut('no memory for the upload'));
    };
    const timer = setTimeout(stop, maxWaitMs).unref();
    signal.addEventListener('abort', stop);
    this.#waiting.set(resolve, holder.sender);
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
    return block ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** Call when an upload starts a part. */
  begin(holder: PartHolder): void {
    this.#holders.set(holder, performance.now());
  }

  /**
   * Call when an upload no longer holds its blocks, `granted` of them not from a lane. They are not reusable if a request may still be
   * sending them.
   */
  end(holder: PartHolder, blocks: readonly Buffer[], granted: number, hasLane: boolean, isReusable: boolean): void {
    this.#holders.delete(holder);
    this.#held -= blocks.length;
    if (isReusable) this.#spare.push(...blocks);
    this.#dropIdleLater();
    this.#freeBlocks += granted;
    if (hasLane) this.#freeLanes += 1;
    this.#count(holder.sender, -granted - (hasLane ? partBlocks : 0));
    while (this.#waiting.size > 0 && this.#freeBlocks + this.#freeLanes > 0) this.#serveOne();
  }

  #serveOne(): void {
    const [resume, sender] = [...this.#waiting].reduce((least, each) =>
      this.#grantedTo(each[1]) < this.#grantedTo(least[1]) ? each : least,
    );
    this.#waiting.delete(resume);
    const grant = this.#next(sender);
    if (grant) resume(grant);
  }

  #grantedTo(sender: string): number {
    return this.#granted.get(sender) ?? 0;
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

  #crowdOutWhenDue(pauseMs = 0): void {
    clearTimeout(this.#crowding);
    const next = this.#nextToCrowdOut();
    if (!next) return;
    const waitMs = Math.max(pauseMs, next.due - performance.now());
    this.#crowding = setTimeout(() => {
      const due = this.#nextToCrowdOut();
      if (due && due.due <= performance.now()) {
        this.#holders.delete(due.holder);
        due.holder.crowdOut(new CrowdedOut('other uploads needed the memory of this slow one'));
      }
      this.#crowdOutWhenDue(crowdingPauseMs);
    }, waitMs).unref();
  }

  /** The upload that is crowded out next if others still wait then, and when, by `performance.now`. */
  #nextToCrowdOut(): { readonly holder: PartHolder; readonly due: number } | undefined {
    const [oldest] = this.#holders;
    if (!oldest || this.#waiting.size === 0) return undefined;
    const due = { holder: oldest[0], due: oldest[1] + this.#patienceMs };
    const most = Math.max(...this.#granted.values());
    const least = Math.min(...[...this.#waiting.values()].map((sender) => this.#grantedTo(sender)));
    const greedy = [...this.#holders].find(([{ sender }]) => this.#grantedTo(sender) === most);
    if (!greedy || most < least + 2 * partBlocks) return due;
    const greedyDue = { holder: greedy[0], due: greedy[1] + greedyPatienceMs };
    return greedyDue.due < due.due ? greedyDue : due;
  }

  #next(sender: string): Grant | undefined {
    if (this.#freeBlocks > 0) {
      this.#freeBlocks -= 1;
      this.#count(sender, 1);
      return 'block';
    }
    if (this.#freeLanes > 0) {
      this.#freeLanes -= 1;
      this.#count(sender, partBlocks);
      return 'lane';
    }
    return undefined;
  }
}
