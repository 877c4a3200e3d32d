import type { Job } from 'bullmq';

/** How long a lock lasts without renewal, in milliseconds. Another worker takes the job of a dead worker within ten seconds (docs/why/dependencies.md, "BullMQ and ioredis"). */
export const lockDuration = 6000;

// An aborted handler has so long to end.
const abortGraceMs = 1000;
// Node ends a longer timer at once.
const maxTimerMs = 2 ** 31 - 1;

/**
 * A job while it is handled: renews its lock and limits its time. BullMQ renews locks by the job's id: if this worker lost a job and took it
 * again, the end of the first run would end the renewals of the second.
 */
export class JobRun<R> {
  readonly #job: Pick<Job, 'extendLock'>;
  readonly #token: string;
  readonly #abort = new AbortController();
  readonly #renewals: NodeJS.Timeout;
  readonly #limit: NodeJS.Timeout;
  #reject: (reason: unknown) => void = () => {};
  #abortTimer: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #isReleased = false;
  #isOver = false;

  constructor(job: Pick<Job, 'extendLock'>, token: string, maxMs: number) {
    this.#job = job;
    this.#token = token;
    this.#renewals = setInterval(() => this.#renew(), lockDuration / 3);
    const endLate = () => this.#abortWith(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    this.#limit = setTimeout(endLate, Math.min(maxMs, maxTimerMs));
  }

  /** Whether the job goes to another worker, which will report its end. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Settles as `handle` does, at the latest a second after its abort: a handler that hangs must not keep its job or the slot. */
  async result(handle: (signal: AbortSignal) => Promise<R>): Promise<R> {
    try {
      return await new Promise<R>((resolve, reject) => {
        this.#reject = reject;
        handle(this.#abort.signal).then(resolve, reject);
      });
    } finally {
      clearInterval(this.#renewals);
      clearTimeout(this.#limit);
      clearTimeout(this.#abortTimer);
      this.#isOver = true;
    }
  }

  /** Aborts the handler, and leaves the job to another worker. */
  release(reason: Error): void {
    this.#isReleased = true;
    this.#abortWith(reason);
  }

  #abortWith(reason: Error): void {
    if (this.#abort.signal.aborted) return;
    this.#abortTimer = setTimeout(() => this.#reject(reason), abortGraceMs).unref();
    this.#abort.abort(reason);
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#isReleased) return;
    this.#isRenewing = true;
    const renewed = await this.#job.extendLock(this.#token, lockDuration).catch(() => undefined);
    this.#isRenewing = false;
    if (renewed === 0 && !this.#isOver) this.release(new Error('job lock lost'));
  }
}
