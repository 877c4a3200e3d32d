import type { TimedEnd } from '../sandbox/bounded-process.ts';

// Before the tool's own guard, which cannot tell a slow video from a slow machine.
const headStartMs = 500;

/**
 * Runs a tool that has `seconds`. A wall clock cannot tell a costly medium from a busy machine: limits of processor time do.
 *
 * Rejects with what `run` rejects with, or with the signal's reason.
 */
export async function inTime(
  seconds: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<TimedEnd>,
): Promise<TimedEnd> {
  const deadline = AbortSignal.timeout(seconds * 1000 - headStartMs);
  try {
    return await run(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (deadline.aborted && !signal.aborted) return 'timed_out';
    throw error;
  }
}
