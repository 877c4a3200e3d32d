import { setTimeout as sleep } from 'node:timers/promises';

// Shared machines are slow, and only failures take this long.
const slowdown = 3;

/**
 * Polls `condition` until it is true, at decreasing rate down to ten times a second. An error counts as false.
 * @throws Error that names `what`, after three times `withinMs` (the limit on an idle machine)
 */
export async function waitUntil(what: string, withinMs: number, condition: () => Promise<boolean>): Promise<void> {
  const maxMs = slowdown * withinMs;
  const end = performance.now() + maxMs;
  for (let pauseMs = 5; !(await condition().catch(() => false)); pauseMs = Math.min(pauseMs * 1.5, 100)) {
    if (performance.now() > end) throw new Error(`timed out after ${maxMs} ms waiting for ${what}`);
    await sleep(pauseMs);
  }
}
