import { setTimeout as sleep } from 'node:timers/promises';
import { type GameDay, meanwhile, type Scenario, undoneBy } from '../scenario.ts';

/** What the sandbox provider can be told to do wrong. */
const failures = [
  'slow',
  'down',
  'cut-off',
  'endless',
  'unavailable',
  'too-many',
  'refusing',
  'redirect',
  'html',
  'broken-json',
  'no-id',
  'no-name',
  'too-large',
  'wrong-clock',
] as const;

type Behaviour = (typeof failures)[number] | 'normal';

const eachMs = 500;

/** The identity provider fails in every way that it can. */
export const providerScenarios: readonly Scenario[] = [
  {
    name: 'the provider fails in every way',
    breaks: `the identity provider is, half a second each: ${failures.join(', ')}`,
    forSeconds: (failures.length * eachMs) / 1000,
    isShort: true,
    begin: async (day) => {
      await using parts = new AsyncDisposableStack();
      parts.defer(() => behave(day, 'normal'));
      parts.use(meanwhile((over) => failInTurn(over, day)));
      return parts.move();
    },
  },
  ...failures.map(
    (failure): Scenario => ({
      name: `the provider is ${failure}`,
      breaks: `the identity provider is ${failure}`,
      forSeconds: 12,
      begin: async (day) => {
        await behave(day, failure);
        day.broke();
        return undoneBy(() => behave(day, 'normal'));
      },
    }),
  ),
];

async function failInTurn(over: AbortSignal, day: GameDay): Promise<void> {
  for (const failure of failures) {
    if (over.aborted) return;
    await behave(day, failure);
    day.broke();
    await sleep(eachMs, undefined, { signal: over }).catch(() => {});
  }
}

async function behave({ system }: GameDay, behaviour: Behaviour): Promise<void> {
  const body = new URLSearchParams({ behaviour });
  const { origin } = new URL(system.provider);
  const { status } = await fetch(`${origin}/behaviour`, { method: 'POST', body, redirect: 'manual' });
  if (status !== 303) throw new Error(`the sandbox provider answers ${status} where it is told to be ${behaviour}`);
}
