import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailed } from './command-context.ts';

const hourMs = 3_600_000;
const retryMs = 600_000;

interface Period {
  readonly everyHours: number;
  readonly logFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Calls `sweepNow` every `everyHours` until the signal aborts. Passes the error of a failed sweep to `logFailure`, and retries it in ten minutes. */
export async function* sweepPeriodically(
  sweepNow: () => AsyncIterable<string>,
  { everyHours, logFailure, signal }: Period,
): AsyncGenerator<string> {
  while (!signal.aborted) {
    let pauseMs = everyHours * hourMs;
    try {
      yield* sweepNow();
    } catch (error) {
      if (signal.aborted) return;
      logFailure(error);
      // A store that refuses to delete some objects would refuse it in ten minutes too.
      if (!(error instanceof CommandFailed)) pauseMs = Math.min(pauseMs, retryMs);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
