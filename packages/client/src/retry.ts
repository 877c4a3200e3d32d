import { obstacleOf, RequestRefused, refusalOf, ServiceUnreachable } from './client-errors.ts';
import { RetryPolicy } from './retry-policy.ts';
import { isTemporary } from './upload/refused-uploads.ts';

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

/** Calls `attempt` until it succeeds, fails for good, or the policy ends it. @throws the last error of `attempt`, or the signal's reason */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, signal, onRetry, hasAdvanced }: RetryOptions,
): Promise<T> {
  const policy = new RetryPolicy(retries);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (hasAdvanced?.()) policy.restart();
      const pauseMs = mayPass(error) ? policy.nextPauseMs(requiredMs(error)) : undefined;
      if (pauseMs === undefined) throw error;
      onRetry?.(error, pauseMs);
      await pause(pauseMs, signal);
    }
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof ServiceUnreachable) return obstacleOf(error) === undefined;
  return error instanceof RequestRefused && isTemporary(refusalOf(error));
}

function requiredMs(error: unknown): number {
  return error instanceof RequestRefused ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
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
