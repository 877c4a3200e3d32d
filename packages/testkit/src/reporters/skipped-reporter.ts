import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/** Ends the output with what was skipped: how many tests, what they need, and how to get it. */
export class SkippedReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(testModules: readonly TestModule[]): void {
    const skipped = testModules.flatMap((each) => [...each.children.allTests('skipped')]);
    // Tests that `-t` filters out have no reason.
    const reasons = skipped.map(reasonOf).filter((why) => why !== undefined);
    if (reasons.length === 0) return;
    const lines = [...Map.groupBy(reasons, (why) => why)].map(([why, { length }]) => `${length} skipped: ${why}`);
    this.#vitest?.logger.log(['', ...lines].join('\n'));
  }
}

function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return test.meta().needs ?? (result.state === 'skipped' ? result.note : undefined);
}
