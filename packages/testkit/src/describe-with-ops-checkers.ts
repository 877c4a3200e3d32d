import { describe, test } from 'vitest';
import { findProgram } from './find-program.ts';
import { unlessMissing } from './unless-missing.ts';

type OpsChecker = 'kustomize' | 'kubeconform' | 'promtool' | 'prometheus' | 'hadolint' | 'actionlint';

/** A `describe` for tests that need programs in PATH. If one is missing, skips them, or fails if REQUIRE_OPS_CHECKERS=1. */
export async function describeWithOpsCheckers(
  name: string,
  checkers: readonly OpsChecker[],
  tests: () => void,
): Promise<void> {
  const found = await Promise.all(
    checkers.map(async (checker) => [checker, (await findProgram(checker)) !== undefined]),
  );
  const options = unlessMissing(Object.fromEntries(found));
  // `tests` may start programs when it declares its tests.
  if (options.skip) test(name, options, () => {});
  else describe(name, tests);
}
