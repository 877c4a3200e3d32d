import type { SeededRandom } from '@echodrop/testkit/seeded-random';
import type { Scenario } from './scenario.ts';
import { blockScenarios } from './scenarios/blocks.ts';
import { clientScenarios } from './scenarios/clients.ts';
import { commitScenarios } from './scenarios/commits.ts';
import { diskScenarios } from './scenarios/disks.ts';
import { processScenarios } from './scenarios/killed-processes.ts';
import { machineScenarios } from './scenarios/machine.ts';
import { providerScenarios } from './scenarios/providers.ts';
import { redisScenarios } from './scenarios/redis.ts';
import { stopScenarios } from './scenarios/stops.ts';
import { storeScenarios } from './scenarios/store.ts';
import type { SystemKind } from './start-system.ts';

/** All scenarios, for a long game day. */
export const allScenarios: readonly Scenario[] = [
  ...processScenarios,
  ...commitScenarios,
  ...redisScenarios,
  ...storeScenarios,
  ...providerScenarios,
  ...clientScenarios,
  ...stopScenarios,
  ...machineScenarios,
  ...diskScenarios,
  ...blockScenarios,
];

/** The scenarios whose names match `only`. Without `only`, a short game day plays the short ones. */
export function scenariosOf({
  isLong,
  only,
}: {
  readonly isLong: boolean;
  readonly only: RegExp;
}): readonly Scenario[] {
  const isSelected = only.source !== /(?:)/.source;
  return allScenarios.filter(({ name, isShort }) => only.test(name) && (isLong || isSelected || isShort));
}

/** The kinds of systems that the scenarios need, the default last. */
export function kindsOf(scenarios: readonly Scenario[]): readonly SystemKind[] {
  const kinds = new Set(scenarios.map(({ on = defaultKind }) => on));
  return [...kinds].sort((a, b) => Number(a === defaultKind) - Number(b === defaultKind));
}

/** Whether a long game day may repeat it. */
export function isBrief({ forSeconds }: Scenario): boolean {
  return forSeconds < longSeconds;
}

/**
 * The scenarios for one kind of system. Brief ones come first in random order, for new sequences of faults. The rest
 * follows, longest last, so that a run that reaches its time limit has played most of them.
 */
export function inRandomOrder(scenarios: readonly Scenario[], kind: SystemKind, random: SeededRandom): Scenario[] {
  const length = (scenario: Scenario) => (isBrief(scenario) ? 0 : scenario.forSeconds);
  return random.shuffled(scenarios.filter(({ on = defaultKind }) => on === kind)).sort((a, b) => length(a) - length(b));
}

const defaultKind: SystemKind = 'one of each';
const longSeconds = 30;
