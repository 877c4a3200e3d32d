import { setTimeout as sleep } from 'node:timers/promises';
import { block, unblock } from '@echodrop/archive/blocks';
import { sandbox } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { GameDay, Scenario } from '../scenario.ts';

const outageMs = 5000;
const pauseMs = 500;
// Gateways refresh blocks every five seconds.
const enforcedWithinMs = 45_000;
const uploadsAfter = 5;

/** An operator blocks a user during a fault. */
export const blockScenarios: readonly Scenario[] = [
  {
    name: 'a user is blocked while the store is unreachable',
    breaks: `the store is unreachable for ${outageMs / 1000} s, and meanwhile an operator blocks a user`,
    forSeconds: 0,
    begin: blockDuringOutage,
  },
];

async function blockDuringOutage({ system, load, broke, note }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const who = { kind: 'user', provider: system.bearerProvider, subject: `${sandbox.userId}` } as const;
  const tryUpload = async () => {
    const { outcome, why } = await load.send({ kind: 'jpg', version: 2, user: 'bearer', patienceMs: 0 });
    return why ?? outcome;
  };
  const expectUpload = (what: string, isExpected: (result: string) => boolean) =>
    waitUntil(
      what,
      async () => {
        await sleep(pauseMs);
        return isExpected(await tryUpload());
      },
      enforcedWithinMs,
    ).catch((error) => note('a block is not enforced', String(error)));
  parts.defer(() => expectUpload('an upload by the unblocked user', (each) => each === 'acknowledged'));
  system.links.store.turn('silent');
  parts.defer(() => system.links.store.turn('passes'));
  await block(system.store, who, new Date());
  parts.defer(() => unblock(system.store, who));
  broke();
  await sleep(outageMs);
  system.links.store.turn('passes');
  await expectUpload('a refusal for the blocked user', isRefusal);
  for (let upload = 0; upload < uploadsAfter; upload += 1) {
    const each = await tryUpload();
    if (!isRefusal(each)) note('a block is not enforced', each);
  }
  return parts.move();
}

function isRefusal(result: string): boolean {
  return result === '403 caller_blocked';
}
