import type { End } from './replies.ts';

/** What a poll finds: the end of the job, that it has none yet, or undefined if nothing is known. */
export type JobState<R> = End<R> | 'running' | undefined;

interface WaitOptions<R> {
  readonly waitMs: number;
  readonly pollMs: number;
  readonly signal: AbortSignal | undefined;
  readonly poll: () => Promise<JobState<R>>;
}

/** Waits for the end of a job, with one timer and one listener: for `settle`, a poll that finds it, the time limit, or the signal. */
export class JobWait<R> implements Disposable {
  readonly #options: WaitOptions<R>;
  readonly #result = Promise.withResolvers<End<R>>();
  readonly #deadline: number;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(options: WaitOptions<R>) {
    this.#options = options;
    this.#deadline = performance.now() + options.waitMs;
    this.#schedule(options.waitMs);
    options.signal?.addEventListener('abort', this.#abort);
  }

  /** Rejects with the signal's reason, an Error at the time limit, or the argument of `fail`. */
  get end(): Promise<End<R>> {
    return this.#result.promise;
  }

  readonly settle = (end: End<R>): void => this.#result.resolve(end);
  readonly fail = (error: unknown): void => this.#result.reject(error);

  /** Polls the job now, unless a poll runs. */
  async poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const state = await this.#options.poll().catch(() => undefined);
    this.#isPolling = false;
    if (typeof state === 'object') this.settle(state);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.fail(this.#options.signal?.reason);

  #schedule(remainingMs: number): void {
    this.#timer = setTimeout(() => this.#tick(), Math.min(this.#options.pollMs, remainingMs));
  }

  #tick(): void {
    const remainingMs = this.#deadline - performance.now();
    if (remainingMs < 1) this.fail(new Error('timed out waiting for reply'));
    else {
      this.#schedule(remainingMs);
      this.poll();
    }
  }
}
