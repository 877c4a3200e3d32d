import type { TestUserConfig } from 'vitest/node';
import { ProgressReporter } from './progress-reporter.ts';
import { SkippedReporter } from './skipped-reporter.ts';

/** Vitest's reporters for a test run. If JSON_REPORT is set, Vitest also writes its JSON report to this path. */
export function testReporters(): TestUserConfig['reporters'] {
  const outputFile = process.env['JSON_REPORT'];
  const json: ['json', { outputFile: string }][] = outputFile === undefined ? [] : [['json', { outputFile }]];
  return ['default', ...json, new ProgressReporter(), new SkippedReporter()];
}
