import { type SharedSlot, SharedSlots } from './shared-slots.ts';

interface FairSlotQueueOptions {
  /** The most slots at once of all senders. */
  readonly slots: number;
  /** The most requests that wait at once: of all senders, and of one. */
  readonly maxWaiting: number;
  readonly maxWaitingOfOne: number;
}

interface Waiter {
  /** The most slots of the sender at once. */
  readonly limit: number;
  readonly end: (slot: SharedSlot | undefined) => void;
}

/**
 * Slots that senders share (SharedSlots). A request that gets none waits: senders take turns, and the requests of each keep their order. If too
 * many wait, the last one of the sender with most of them gives way.
 */
export class FairSlotQueue {
  readonly #options: Omit<FairSlotQueueOptions, 'slots'>;
  readonly #slots: SharedSlots;
  /** Senders in the order of their turns; none without waiters. */
  readonly #waiting = new Map<string, Waiter[]>();
  #allWaiting = 0;

  constructor({ slots, ...options }: FairSlotQueueOptions) {
    this.#options = options;
    this.#slots = new SharedSlots(slots);
  }

  /**
   * Takes a slot, which disposing of `held` releases. Waits for it at most `waitMs`, and no longer than until `signal` aborts.
   * @param limit slots of this sender at once
   * @returns false if there was no slot in time, or too many requests wait
   */
  async acquire(
    sender: string,
    limit: number,
    waitMs: number,
    held: DisposableStack,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const slot = this.#slots.acquire(sender, limit) ?? (await this.#wait(sender, limit, waitMs, signal));
    if (!slot) return false;
    held.defer(() => {
      slot[Symbol.dispose]();
      while (this.#admitNext());
    });
    return true;
  }

  /** Whether a sender has a slot. If so, it had its turn, and a refusal of another is due to its share. */
  holds(sender: string): boolean {
    return this.#slots.holds(sender);
  }

  /** Waits for a slot. It is taken for the waiter at once: another request could take it before the waiter runs. */
  async #wait(
    sender: string,
    limit: number,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<SharedSlot | undefined> {
    if (signal?.aborted) return undefined;
    const waiters = this.#waiting.get(sender) ?? [];
    const { maxWaiting, maxWaitingOfOne } = this.#options;
    if (waiters.length >= maxWaitingOfOne) return undefined;
    if (this.#allWaiting >= maxWaiting && !this.#refuseOneOfMost(waiters.length + 1)) return undefined;
    const { promise, resolve } = Promise.withResolvers<SharedSlot | undefined>();
    const waiter = { limit, end: resolve };
    this.#waiting.set(sender, waiters);
    waiters.push(waiter);
    this.#allWaiting += 1;
    const giveUp = () => {
      const place = waiters.indexOf(waiter);
      // The waiter has just got a slot, or was refused.
      if (place < 0) return;
      waiters.splice(place, 1);
      this.#allWaiting -= 1;
      if (waiters.length === 0) this.#waiting.delete(sender);
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, waitMs);
    signal?.addEventListener('abort', giveUp);
    return await promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    });
  }

  /** Refuses the last waiter of the sender that has most, if it has more than `waiting`. */
  #refuseOneOfMost(waiting: number): boolean {
    let most: Waiter[] = [];
    for (const waiters of this.#waiting.values()) if (waiters.length > most.length) most = waiters;
    if (most.length <= waiting) return false;
    most.pop()?.end(undefined);
    this.#allWaiting -= 1;
    return true;
  }

  #admitNext(): boolean {
    for (const [sender, waiters] of this.#waiting) {
      const [next] = waiters;
      const slot = next && this.#slots.acquire(sender, next.limit);
      if (!slot) continue;
      waiters.shift();
      this.#allWaiting -= 1;
      // The sender's next turn comes behind the others.
      this.#waiting.delete(sender);
      if (waiters.length > 0) this.#waiting.set(sender, waiters);
      next.end(slot);
      return true;
    }
    return false;
  }
}
