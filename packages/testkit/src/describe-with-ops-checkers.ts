import { execa } from 'execa';
import { describe, expect, test } from 'vitest';

type OpsChecker = 'kustomize' | 'kubeconform' | 'promtool' | 'prometheus' | 'hadolint' | 'actionlint';

/** A `describe` for tests that need programs in PATH. If one is missing, skips them with a warning, or fails if REQUIRE_OPS_CHECKERS=1. */
export async function describeWithOpsCheckers(
  name: string,
  checkers: readonly OpsChecker[],
  tests: () => void,
): Promise<void> {
  const found = await Promise.all(checkers.map((checker) => execa('which', [checker], { reject: false })));
  const missing = checkers.filter((_, n) => found[n]?.failed).join(', ');
  describeUnlessMissing(name, { missing, variable: 'REQUIRE_OPS_CHECKERS' }, tests);
}

/** Describes tests if `missing` is empty. Otherwise skips them with a warning, or fails if `variable` is 1. */
export function describeUnlessMissing(
  name: string,
  { missing, variable }: { missing: string; variable: string },
  tests: () => void,
): void {
  if (missing === '') describe(name, tests);
  else if (process.env[variable] === '1') test(name, () => expect.fail(`${variable}=1, but there is no ${missing}`));
  else {
    process.stderr.write(`\n!!! NO ${missing}: ${name} is SKIPPED (${variable}=1 makes it fail).\n\n`);
    test.skip(name);
  }
}
