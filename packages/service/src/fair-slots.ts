interface FairSlotsOptions {
  /** Slots at once, of all senders. */
  readonly slots: number;
  /** Requests that wait at once: of all senders, and of one. */
  readonly maxWaiting: number;
  readonly maxWaitingOfOne: number;
}

interface Waiter {
  /** Slots of the sender at once. */
  readonly limit: number;
  readonly admit: () => void;
}

/** Slots for requests of several senders. If none is free, senders take turns, and the requests of each keep their order. */
export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #running = new Map<string, number>();
  #allRunning = 0;
  /** Senders in the order of their turns; none without waiters. */
  readonly #waiting = new Map<string, Waiter[]>();
  #allWaiting = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  /**
   * Takes a slot, which disposing of `held` releases. Waits for it at most `waitMs`.
   * @param limit slots of this sender at once
   * @returns false if there was no slot in time, or too many requests wait
   */
  async acquire(sender: string, limit: number, waitMs: number, held: DisposableStack): Promise<boolean> {
    if (this.#isFree(sender, limit)) this.#count(sender, 1);
    else if (!(await this.#wait(sender, limit, waitMs))) return false;
    held.defer(() => {
      this.#count(sender, -1);
      this.#admitNext();
    });
    return true;
  }

  /** Whether a sender has a slot: then it had its turn, and only its own share keeps it from another. */
  holds(sender: string): boolean {
    return this.#running.has(sender);
  }

  /** Waits for a slot. It is taken for the waiter at once: another request could take it before the waiter runs. */
  async #wait(sender: string, limit: number, waitMs: number): Promise<boolean> {
    const waiters = this.#waiting.get(sender) ?? [];
    const { maxWaiting, maxWaitingOfOne } = this.#options;
    if (this.#allWaiting >= maxWaiting || waiters.length >= maxWaitingOfOne) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { limit, admit: () => resolve(true) };
    this.#waiting.set(sender, waiters);
    waiters.push(waiter);
    this.#allWaiting += 1;
    const timer = setTimeout(() => {
      waiters.splice(waiters.indexOf(waiter), 1);
      this.#allWaiting -= 1;
      if (waiters.length === 0) this.#waiting.delete(sender);
      resolve(false);
    }, waitMs);
    return await promise.finally(() => clearTimeout(timer));
  }

  #admitNext(): void {
    for (const [sender, waiters] of this.#waiting) {
      const [next] = waiters;
      if (!next || !this.#isFree(sender, next.limit)) continue;
      waiters.shift();
      this.#allWaiting -= 1;
      // Behind the others.
      this.#waiting.delete(sender);
      if (waiters.length > 0) this.#waiting.set(sender, waiters);
      this.#count(sender, 1);
      next.admit();
      return;
    }
  }

  #isFree(sender: string, limit: number): boolean {
    return this.#allRunning < this.#options.slots && (this.#running.get(sender) ?? 0) < limit;
  }

  #count(sender: string, change: 1 | -1): void {
    const running = (this.#running.get(sender) ?? 0) + change;
    if (running > 0) this.#running.set(sender, running);
    else this.#running.delete(sender);
    this.#allRunning += change;
  }
}
