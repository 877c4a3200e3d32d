import { describe } from 'vitest';
import { findProgram } from './find-program.ts';
import { unlessMissing } from './unless-missing.ts';

type OpsChecker = 'kustomize' | 'kubeconform' | 'promtool' | 'prometheus' | 'hadolint' | 'actionlint';

/** A `describe` for tests that need programs in PATH. If one is missing, skips them, or fails if REQUIRE_OPS_CHECKERS=1. */
export async function describeWithOpsCheckers(
  name: string,
  checkers: readonly [OpsChecker, ...OpsChecker[]],
  tests: () => void,
): Promise<void> {
  const found = await Promise.all(checkers.map(findProgram));
  const missing = checkers.find((_, n) => found[n] === undefined);
  describe(name, unlessMissing(missing ?? checkers[0], missing === undefined), tests);
}
