import type { SeededRandom } from '@echodrop/testkit/seeded-random';
import type { Scenario } from './scenario.ts';
import { blockScenarios } from './scenarios/blocks.ts';
import { clientScenarios } from './scenarios/clients.ts';
import { commitScenarios } from './scenarios/commits.ts';
import { diskScenarios } from './scenarios/disks.ts';
import { machineScenarios } from './scenarios/machine.ts';
import { processScenarios } from './scenarios/processes.ts';
import { providerScenarios } from './scenarios/providers.ts';
import { redisScenarios } from './scenarios/redis.ts';
import { stopScenarios } from './scenarios/stops.ts';
import { storeScenarios } from './scenarios/store.ts';
import type { SystemKind } from './start-system.ts';

/** A long game day plays all of them, a short one some. */
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

/** The scenarios of a game day: names that match `only`; without `only`, a game day that is not long plays the short ones. */
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

/** The kinds of systems that the scenarios need, the usual one last. */
export function kindsOf(scenarios: readonly Scenario[]): readonly SystemKind[] {
  const kinds = new Set(scenarios.map(({ on = usual }) => on));
  return [...kinds].sort((a, b) => Number(a === usual) - Number(b === usual));
}

/** Whether a long run may repeat it. */
export function isBrief({ forSeconds }: Scenario): boolean {
  return forSeconds < lengthySeconds;
}

/**
 * The scenarios for one kind of system. Brief ones come first, in random order, so that each run has other sequences of faults. The rest
 * follows, longest last, so that a run that reaches its time limit has played most.
 */
export function inSomeOrder(scenarios: readonly Scenario[], kind: SystemKind, random: SeededRandom): Scenario[] {
  const length = (scenario: Scenario) => (isBrief(scenario) ? 0 : scenario.forSeconds);
  return random.shuffled(scenarios.filter(({ on = usual }) => on === kind)).sort((a, b) => length(a) - length(b));
}

const usual: SystemKind = 'one of each';
const lengthySeconds = 30;
