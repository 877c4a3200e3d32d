import { execa } from 'execa';
import { describe, expect, test } from 'vitest';

type OpsChecker = 'kustomize' | 'kubeconform' | 'promtool' | 'prometheus' | 'hadolint' | 'actionlint';

/**
 * A `describe` for tests that need the checkers of what operators read, by name in PATH. Where one is missing they are skipped, loudly,
 * or one test fails for all of them with REQUIRE_OPS_CHECKERS=1.
 */
export async function describeWithOpsCheckers(
  name: string,
  checkers: readonly OpsChecker[],
  tests: () => void,
): Promise<void> {
  const found = await Promise.all(checkers.map((checker) => execa('which', [checker], { reject: false })));
  const missing = checkers.filter((_, n) => found[n]?.failed).join(', ');
  if (missing && process.env.REQUIRE_OPS_CHECKERS === '1') {
    test(name, () => expect.fail(`REQUIRE_OPS_CHECKERS=1, and there is no ${missing}`));
    return;
  }
  if (missing) {
    process.stderr.write(`\n!!! NO ${missing}: ${name} is SKIPPED (REQUIRE_OPS_CHECKERS=1 makes that a failure).\n\n`);
    test.skip(name);
    return;
  }
  describe(name, tests);
}
