import { join } from 'node:path';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { execa } from 'execa';
import { expect, test } from 'vitest';

await describeWithOpsCheckers('the hosted workflow', ['actionlint'], () => {
  test('is accepted by actionlint', async () => {
    const { stdout } = await execa('actionlint', { cwd: join(import.meta.dirname, '..'), reject: false });
    expect(stdout).toBe('');
  });
});
