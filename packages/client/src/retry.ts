import { obstacleOf, RequestRefused, ServiceUnreachable } from './client-errors.ts';

const firstPauseMs = 250;
const longestPauseMs = 120_000;

/** Called before each pause: the error of the last attempt, and the length of the pause in milliseconds. */
export type OnRetry = (error: unknown, pauseMs: number) => void;

interface RetryOptions {
  /** Attempts after the first. */
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly onRetry?: OnRetry | undefined;
  /** Whether the last attempt came further than those before, so that it does not count. */
  readonly hasAdvanced?: (() => boolean) | undefined;
}

/**
 * Calls `attempt` until it succeeds, fails for good, or `retries` are used up. It pauses between two attempts, at least as long as a Retry-After
 * says. A Retry-After above two minutes ends it. @throws the last error of `attempt`, or the signal's reason
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, signal, onRetry, hasAdvanced }: RetryOptions,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (hasAdvanced?.()) tried = 0;
      const requestedMs = error instanceof RequestRefused ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      if (tried >= retries || !isTemporary(error) || requestedMs > longestPauseMs) throw error;
      const jitter = 0.5 + Math.random();
      const pauseMs = Math.max(requestedMs, firstPauseMs * 2 ** tried * jitter);
      onRetry?.(error, pauseMs);
      await pause(pauseMs, signal);
    }
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ServiceUnreachable) return obstacleOf(error) === undefined;
  if (!(error instanceof RequestRefused)) return false;
  const { status, reason } = error;
  // Proxies also respond with unregistered statuses, such as 520 to 524.
  return (
    ['idempotency_key_in_use', 'provider_unavailable'].includes(reason) ||
    status >= 500 ||
    [408, 423, 429].includes(status)
  );
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
