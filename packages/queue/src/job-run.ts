import type { Job } from 'bullmq';

/** A dead worker's job is another's within ten seconds (docs/dependencies.md, "BullMQ and ioredis"). Milliseconds. */
export const lockDuration = 6000;

// How long an answer that was told to end may take for it.
const endingMs = 1000;

/**
 * A job while it is answered. One timer renews its lock and ends its time. The lock is not left to BullMQ, which knows what it renews by
 * the job's id alone: of a job that this worker has lost and taken again, the end of the first run would end the renewals of the second.
 */
export class JobRun<A> {
  readonly #job: Pick<Job, 'extendLock'>;
  readonly #token: string;
  readonly #until: number;
  readonly #told = new AbortController();
  #overdue: (reason: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #ending: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #isTakenAway = false;
  #isOver = false;

  /** `mostMs` is how long the answer may take. */
  constructor(job: Pick<Job, 'extendLock'>, token: string, mostMs: number) {
    this.#job = job;
    this.#token = token;
    this.#until = performance.now() + mostMs;
    this.#schedule(mostMs);
  }

  /** Whether the job goes to another worker: its end is not this one's to tell. */
  get isTakenAway(): boolean {
    return this.#isTakenAway;
  }

  /**
   * What `answer` gives. Rejects a second after its signal was aborted at the latest, also where it does not heed that: a store that hangs
   * must keep neither its job nor the worker's place.
   */
  async result(answer: (signal: AbortSignal) => Promise<A>): Promise<A> {
    try {
      return await new Promise<A>((resolve, reject) => {
        this.#overdue = reject;
        answer(this.#told.signal).then(resolve, reject);
      });
    } finally {
      clearTimeout(this.#timer);
      clearTimeout(this.#ending);
      this.#isOver = true;
    }
  }

  /** The job is to go to another worker. */
  takeAway(reason: Error): void {
    this.#isTakenAway = true;
    this.#tell(reason);
  }

  #tell(reason: Error): void {
    if (this.#told.signal.aborted) return;
    this.#ending = setTimeout(() => this.#overdue(reason), endingMs).unref();
    this.#told.abort(reason);
  }

  readonly #due = (): void => {
    const leftMs = this.#until - performance.now();
    if (leftMs < 1) this.#tell(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    this.#schedule(leftMs < 1 ? lockDuration : leftMs);
    this.#renew();
  };

  #schedule(leftMs: number): void {
    this.#timer = setTimeout(this.#due, Math.min(lockDuration / 3, leftMs));
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#isTakenAway) return;
    this.#isRenewing = true;
    const renewed = await this.#job.extendLock(this.#token, lockDuration).catch(() => undefined);
    this.#isRenewing = false;
    if (renewed === 0 && !this.#isOver) this.takeAway(new Error('the lock of the job is lost'));
  }
}
