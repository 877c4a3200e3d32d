import type { Reporter, TestCase, TestModule, TestUserConfig, Vitest } from 'vitest/node';

/** Vitest's reporters for a test run. If JSON_REPORT is set, Vitest also writes its JSON report to this path. */
export function testReporters(): TestUserConfig['reporters'] {
  const outputFile = process.env['JSON_REPORT'];
  const json: ['json', { outputFile: string }][] = outputFile === undefined ? [] : [['json', { outputFile }]];
  return ['default', ...json, new SkippedReporter()];
}

/** Ends the output with what was skipped: how many tests, what they need, and how to get it. */
class SkippedReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(testModules: readonly TestModule[]): void {
    const pattern = this.#vitest?.getGlobalTestNamePattern();
    // As `-t` reads a name.
    const isWanted = ({ fullName }: TestCase) => pattern?.test(fullName.replaceAll(' > ', ' ')) ?? true;
    const skipped = testModules.flatMap((each) => [...each.children.allTests('skipped')]).filter(isWanted);
    const reasons = skipped.map(reasonOf).filter((reason) => reason !== undefined);
    if (reasons.length === 0) return;
    const lines = [...Map.groupBy(reasons, (reason) => reason)].map(
      ([reason, { length }]) => `${length} skipped: ${reason}`,
    );
    this.#vitest?.logger.log(['', ...lines].join('\n'));
  }
}

function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return test.meta().needs ?? (result.state === 'skipped' ? result.note : undefined);
}
