import { QueueUnavailable } from './queue-client.ts';

/** Other work of the same owner took the time. */
export class OwnerBusy extends QueueUnavailable {}

interface Wait {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Limits what runs at once for each owner; the rest waits here, first come, first served. */
export class OwnerLimit {
  readonly #atOnce: number;
  readonly #owners = new Map<string, { running: number; readonly waiting: Set<() => void> }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs `work` when a place is free, with the time that it waited. @throws OwnerBusy after `waitMs`, the signal's reason, or what `work` throws */
  async run<T>(name: string, wait: Wait, work: (waitedMs: number) => Promise<T>): Promise<T> {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: new Set() };
    this.#owners.set(name, owner);
    const begun = performance.now();
    const isFree = owner.running < this.#atOnce;
    if (isFree) owner.running += 1;
    else await placeIn(owner.waiting, wait);
    try {
      return await work(isFree ? 0 : performance.now() - begun);
    } finally {
      const [next] = owner.waiting;
      if (next) next();
      else owner.running -= 1;
      if (owner.running === 0) this.#owners.delete(name);
    }
  }
}

async function placeIn(waiting: Set<() => void>, { waitMs, signal }: Wait): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const take = () => {
    waiting.delete(take);
    resolve();
  };
  // At once, so that no place is handed to it.
  const stopWaiting = (reason: unknown) => {
    waiting.delete(take);
    reject(reason);
  };
  const abort = () => stopWaiting(signal.reason);
  const timer = setTimeout(stopWaiting, waitMs, new OwnerBusy("waited too long behind the owner's other jobs"));
  signal.addEventListener('abort', abort);
  waiting.add(take);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
