import type { ToolEnd } from './bounded-process.ts';

// Before the tool's own guard, which cannot tell a slow film from a slow machine.
const headStartMs = 500;

/**
 * Runs a tool that has `seconds`; media that takes longer is `too_costly`: trying it again would take as long.
 *
 * Rejects with what `run` rejects with, or with the signal's reason.
 */
export async function inTime(
  seconds: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<ToolEnd>,
): Promise<ToolEnd> {
  const deadline = AbortSignal.timeout(seconds * 1000 - headStartMs);
  try {
    return await run(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (deadline.aborted && !signal.aborted) return 'too_costly';
    throw error;
  }
}
