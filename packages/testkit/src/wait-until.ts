import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from './patience.ts';

/**
 * Polls `condition` until it is true. The pause between polls grows from 5 to 100 ms. An error counts as false.
 * @throws Error with `what` in its message, if `condition` is not true within `withinMs`
 */
export async function waitUntil(
  what: string,
  condition: () => Promise<boolean>,
  withinMs: number = patienceMs,
): Promise<void> {
  const end = performance.now() + withinMs;
  for (let pauseMs = 5; !(await condition().catch(() => false)); pauseMs = Math.min(pauseMs * 1.5, 100)) {
    if (performance.now() > end) throw new Error(`timed out after ${withinMs} ms waiting for ${what}`);
    await sleep(pauseMs);
  }
}
