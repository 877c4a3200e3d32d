import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks `condition` until it says true, ever less often down to ten times a second; an error counts as false.
 * @throws Error that names `what` when `withinMs` have passed
 */
export async function waitUntil(what: string, withinMs: number, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + withinMs;
  for (let pauseMs = 5; !(await condition().catch(() => false)); pauseMs = Math.min(pauseMs * 1.5, 100)) {
    if (performance.now() > end) throw new Error(`${what} within ${withinMs} ms did not happen`);
    await sleep(pauseMs);
  }
}
