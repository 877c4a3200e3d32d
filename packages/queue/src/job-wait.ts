import type { End } from './replies.ts';

const lookMs = 2000;

/** What a look at a job finds: its end, that it has none yet, that there is no such job, or (undefined) nothing, since Redis did not answer. */
export type Look<A> = End<A> | 'running' | 'gone' | undefined;

interface Waiting<A> {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly look: () => Promise<Look<A>>;
  /** After how many looks in a row that find no such job it is given up. */
  readonly mostGone: number;
}

/**
 * One asker's wait for the end of a job: until it is told, or a look finds it, or the time is up, or the signal is aborted. Costs one
 * timer and one listener.
 */
export class JobWait<A> implements Disposable {
  readonly #waiting: Waiting<A>;
  readonly #result = Promise.withResolvers<End<A>>();
  readonly #until: number;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #gone = 0;

  constructor(waiting: Waiting<A>) {
    this.#waiting = waiting;
    this.#until = performance.now() + waiting.waitMs;
    this.#schedule(waiting.waitMs);
    waiting.signal?.addEventListener('abort', this.#leave);
  }

  /** Rejects with the signal's reason, an Error when the time is up, or what `fail` was given. */
  get end(): Promise<End<A>> {
    return this.#result.promise;
  }

  readonly tell = (end: End<A>): void => this.#result.resolve(end);
  readonly fail = (error: unknown): void => this.#result.reject(error);

  /** Looks at the job now, unless a look runs. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const found = await this.#waiting.look().catch(() => undefined);
    this.#isLooking = false;
    this.#gone = found === 'gone' ? this.#gone + 1 : 0;
    if (this.#gone === this.#waiting.mostGone) this.tell({ failure: 'the job is gone' });
    if (typeof found === 'object') this.tell(found);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#waiting.signal?.removeEventListener('abort', this.#leave);
  }

  readonly #leave = (): void => this.fail(this.#waiting.signal?.reason);

  readonly #due = (): void => {
    const leftMs = this.#until - performance.now();
    if (leftMs < 1) {
      this.fail(new Error('nobody answered in time'));
      return;
    }
    this.#schedule(leftMs);
    this.look();
  };

  #schedule(leftMs: number): void {
    this.#timer = setTimeout(this.#due, Math.min(lookMs, leftMs));
  }
}
