import { setTimeout as sleep } from 'node:timers/promises';
import { providerFailures, setBehaviour } from '@echodrop/testkit/provider/sandbox-behaviour';
import { onDispose, runUntilDisposed } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';

const eachMs = 500;

/** Failures of the identity provider. */
export const providerScenarios: readonly Scenario[] = [
  {
    name: 'the provider fails in every way',
    breaks: `the identity provider is, half a second each: ${providerFailures.join(', ')}`,
    forSeconds: (providerFailures.length * eachMs) / 1000,
    isShort: true,
    begin: async (day) => {
      await using parts = new AsyncDisposableStack();
      parts.defer(() => setBehaviour(day.system.provider, 'normal'));
      parts.use(runUntilDisposed((over) => failInTurn(over, day)));
      return parts.move();
    },
  },
  ...providerFailures.map(
    (failure): Scenario => ({
      name: `the provider is ${failure}`,
      breaks: `the identity provider is ${failure}`,
      forSeconds: 8,
      begin: async (day) => {
        await setBehaviour(day.system.provider, failure);
        day.broke();
        return onDispose(() => setBehaviour(day.system.provider, 'normal'));
      },
    }),
  ),
];

async function failInTurn(over: AbortSignal, day: GameDay): Promise<void> {
  for (const failure of providerFailures) {
    if (over.aborted) return;
    await setBehaviour(day.system.provider, failure);
    day.broke();
    await sleep(eachMs, undefined, { signal: over }).catch(() => {});
  }
}
