const firstPauseMs = 250;
const maxPauseMs = 30_000;
const maxTotalMs = 600_000;

/** A client that must wait longer reports the refusal instead. */
export const maxRetryAfterMs = 120_000;

/**
 * When a request is repeated: after pauses that double, with jitter, up to 30 seconds each. `Retry-After` makes a pause longer, up to two minutes.
 * All pauses together take at most ten minutes.
 */
export class RetryPolicy {
  readonly #retries: number;
  #tried = 0;
  #pausedMs = 0;

  /** `retries`: attempts after the first. */
  constructor(retries: number) {
    this.#retries = retries;
  }

  /** The last attempt came further than those before, so that these no longer count. */
  restart(): void {
    this.#tried = 0;
    this.#pausedMs = 0;
  }

  /** Counts an attempt that failed. @returns the pause before the next attempt, at least `retryAfterMs`; undefined if there is none */
  nextPauseMs(retryAfterMs = 0): number | undefined {
    if (this.#tried >= this.#retries || retryAfterMs > maxRetryAfterMs) return undefined;
    const growingMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#tried) * (0.5 + Math.random() / 2);
    const pauseMs = Math.max(retryAfterMs, growingMs);
    this.#tried += 1;
    this.#pausedMs += pauseMs;
    return this.#pausedMs <= maxTotalMs ? pauseMs : undefined;
  }
}

/** The seconds in a Retry-After header, which is a number or a date (RFC 9110 section 10.2.3); undefined if it has none. */
export function retryAfterSeconds(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
