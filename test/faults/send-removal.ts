import { setTimeout as sleep } from 'node:timers/promises';
import { anotherUser } from '@echodrop/testkit/another-user';
import { echoHeaders } from '@echodrop/testkit/upload';
import type { LedgerEntry } from './ledger.ts';
import type { System } from './start-system.ts';

const attemptMs = 15_000;
const pauseMs = 500;

/**
 * Removes an upload as its owner does. Repeats until it is gone or `patienceMs` have passed.
 * @returns whether the gateway acknowledged the removal
 */
export async function sendRemoval(
  system: System,
  { id, user }: Pick<LedgerEntry, 'id' | 'user'>,
  patienceMs: number,
): Promise<boolean> {
  const end = performance.now() + patienceMs;
  for (let turn = 0; ; turn += 1) {
    const gateway = system.gateways[turn % system.gateways.length] ?? '';
    const headers = user === 'bearer' ? anotherUser(system) : echoHeaders(system);
    const signal = AbortSignal.timeout(attemptMs);
    const status = await fetch(`${gateway}/2/media/${id}`, { method: 'DELETE', headers, signal }).then(
      ({ status }) => status,
      () => 0,
    );
    if (status === 204) return true;
    // A repeat that finds a tombstone completes the removal, but gets 404.
    if (status === 404) return turn > 0;
    if (performance.now() > end) return false;
    await sleep(pauseMs);
  }
}
