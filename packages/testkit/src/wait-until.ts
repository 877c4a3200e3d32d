import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks `condition` until it says true; an error counts as false.
 * @throws Error that names `what` when `withinMs` have passed
 */
export async function waitUntil(what: string, withinMs: number, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > end) throw new Error(`${what} within ${withinMs} ms did not happen`);
    await sleep(20);
  }
}
