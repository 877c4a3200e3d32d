import type { TimedEnd } from './run-tool.ts';

// The caller's deadline passes before the tool's own, which cannot distinguish a slow video from a slow machine.
const headStartMs = 500;

/**
 * Runs a tool for at most `seconds` of wall-clock time. The result is `timed_out`, not `too_costly`, as the machine may be
 * busy: only CPU time limits show what media costs.
 * @throws what `run` throws, or the reason of `signal`
 */
export async function withDeadline<End extends TimedEnd | { readonly end: TimedEnd }>(
  seconds: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<End>,
): Promise<End | 'timed_out'> {
  const deadline = AbortSignal.timeout(seconds * 1000 - headStartMs);
  try {
    return await run(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (deadline.aborted && !signal.aborted) return 'timed_out';
    throw error;
  }
}
