import { setTimeout as sleep } from 'node:timers/promises';

// Machines are shared: what is right may be slow there, and only what is wrong takes the time.
const patience = 3;

/**
 * Asks `condition` until it says true, ever less often down to ten times a second; an error counts as false.
 * @throws Error that names `what` when three times `withinMs` have passed, which is what it may take on a machine at rest
 */
export async function waitUntil(what: string, withinMs: number, condition: () => Promise<boolean>): Promise<void> {
  const mostMs = patience * withinMs;
  const end = performance.now() + mostMs;
  for (let pauseMs = 5; !(await condition().catch(() => false)); pauseMs = Math.min(pauseMs * 1.5, 100)) {
    if (performance.now() > end) throw new Error(`${what} within ${mostMs} ms did not happen`);
    await sleep(pauseMs);
  }
}
