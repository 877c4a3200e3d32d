import type { Job } from 'bullmq';

/** How long a lock lasts without renewal, in milliseconds. Another worker takes the job of a dead worker within ten seconds (docs/why/dependencies.md, "BullMQ and ioredis"). */
export const lockDuration = 6000;

// An aborted handler has so long to end.
const abortGraceMs = 1000;

/**
 * A job while it is handled. One timer renews its lock and limits its time. BullMQ renews locks by the job's id: if this worker lost a job
 * and took it again, the end of the first run would end the renewals of the second.
 */
export class JobRun<R> {
  readonly #job: Pick<Job, 'extendLock'>;
  readonly #token: string;
  readonly #deadline: number;
  readonly #abort = new AbortController();
  #reject: (reason: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #abortTimer: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #isReleased = false;
  #isOver = false;

  constructor(job: Pick<Job, 'extendLock'>, token: string, maxMs: number) {
    this.#job = job;
    this.#token = token;
    this.#deadline = performance.now() + maxMs;
    this.#schedule(maxMs);
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
      clearTimeout(this.#timer);
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

  #schedule(remainingMs: number): void {
    this.#timer = setTimeout(() => this.#tick(), Math.min(lockDuration / 3, remainingMs));
  }

  #tick(): void {
    const remainingMs = this.#deadline - performance.now();
    if (remainingMs < 1) this.#abortWith(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    this.#schedule(remainingMs < 1 ? lockDuration : remainingMs);
    this.#renew();
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#isReleased) return;
    this.#isRenewing = true;
    const renewed = await this.#job.extendLock(this.#token, lockDuration).catch(() => undefined);
    this.#isRenewing = false;
    if (renewed === 0 && !this.#isOver) this.release(new Error('job lock lost'));
  }
}
