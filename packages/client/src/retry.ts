import { RequestRefused } from './client-errors.ts';
import { isTemporaryFailure } from './upload/refused-uploads.ts';

const firstPauseMs = 250;
const maxPauseMs = 30_000;
const maxTotalMs = 600_000;

/** A client that must wait longer reports the refusal instead. */
export const maxRetryAfterMs = 120_000;

/** Called before each pause: the error of the last attempt, and the length of the pause in milliseconds. */
export type OnRetry = (error: unknown, pauseMs: number) => void;

interface RetryOptions {
  /** The number of attempts after the first. */
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly onRetry?: OnRetry | undefined;
  /** Whether the last attempt came further than those before, so that these no longer count. */
  readonly hasAdvanced?: (() => boolean) | undefined;
  /** Whether another attempt may succeed after this error. Default: the table of the upload client. */
  readonly isTemporary?: (error: unknown) => boolean;
}

/**
 * Calls `attempt` until it succeeds or fails for good. Pauses double, with jitter, up to 30 seconds each. `Retry-After` makes a pause longer, up to
 * two minutes. All pauses together take at most ten minutes. @throws the last error of `attempt`, or the signal's reason
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, signal, onRetry, hasAdvanced, isTemporary = isTemporaryFailure }: RetryOptions,
): Promise<T> {
  let failed = 0;
  let pausedMs = 0;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (hasAdvanced?.()) {
        failed = 0;
        pausedMs = 0;
      }
      const retryAfterMs = error instanceof RequestRefused ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      const growingMs = Math.min(maxPauseMs, firstPauseMs * 2 ** failed) * (0.5 + Math.random() / 2);
      const pauseMs = Math.max(retryAfterMs, growingMs);
      failed += 1;
      pausedMs += pauseMs;
      const isLast = failed > retries || retryAfterMs > maxRetryAfterMs || pausedMs > maxTotalMs;
      if (isLast || !isTemporary(error)) throw error;
      onRetry?.(error, pauseMs);
      await pause(pauseMs, signal);
    }
  }
}

/** @throws the signal's reason */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The seconds in a Retry-After header, which is a number or a date (RFC 9110 section 10.2.3); undefined if it has none. */
export function retryAfterSeconds(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
