import { setTimeout as sleep } from 'node:timers/promises';
import { block, unblock } from '@echodrop/archive/blocks';
import { sandbox } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { GameDay, Scenario } from '../scenario.ts';

const outOfReachMs = 5000;
const pauseMs = 500;
// Gateways read the blocks every ten seconds.
const knownMs = 15_000;
const uploadsAfter = 5;

/** Operators block a user while the system is broken. */
export const blockScenarios: readonly Scenario[] = [
  {
    name: 'a user is blocked while the store is out of reach',
    breaks: `nothing reaches the store for ${outOfReachMs / 1000} s, and meanwhile a block of a user is placed in it`,
    forSeconds: 0,
    begin: blockMeanwhile,
  },
];

async function blockMeanwhile({ system, load, broke, note }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const who = { kind: 'user', provider: system.bearerProvider, subject: `${sandbox.userId}` } as const;
  const answer = async () => {
    const { outcome, why } = await load.send({ kind: 'jpg', version: 2, user: 'bearer', patienceMs: 0 });
    return why ?? outcome;
  };
  const answered = (what: string, isExpected: (answer: string) => boolean) =>
    waitUntil(what, knownMs, async () => {
      await sleep(pauseMs);
      return isExpected(await answer());
    }).catch((error) => note('a block is not obeyed', String(error)));
  parts.defer(() => answered('an upload of a user who is no longer blocked', (each) => each === 'acknowledged'));
  system.links.store.turn('silent');
  parts.defer(() => system.links.store.turn('passes'));
  await block(system.store, who, new Date());
  parts.defer(() => unblock(system.store, who));
  broke();
  await sleep(outOfReachMs);
  system.links.store.turn('passes');
  await answered('a refusal of a user who is blocked', isRefusal);
  for (let upload = 0; upload < uploadsAfter; upload += 1) {
    const each = await answer();
    if (!isRefusal(each)) note('a block is not obeyed', each);
  }
  return parts.move();
}

function isRefusal(answer: string): boolean {
  return answer === '403 caller_blocked';
}
