import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

/** Runs a fuzzer of the folder `fixture`. */
async function runFixture(file: string, env: Record<string, string> = {}) {
  const config = join(import.meta.dirname, 'fixture/vitest.config.ts');
  return execa('vitest', ['run', '--config', config, file], {
    env: { FUZZ_SECONDS: '1', FUZZ_SEED: '', FUZZ_PATH: '', ...env, NO_COLOR: '1' },
    preferLocal: true,
    reject: false,
    all: true,
  });
}

test('a failure prints the smallest case, and a seed and a path that repeat it', async () => {
  const first = await runFixture('failing');
  const [, seed = '', path = ''] =
    /FUZZ_SEED=(\d+) FUZZ_PATH=(\d+) npm run test:fuzz -- failing-cases\.ts/.exec(first.all) ?? [];
  expect(first).toMatchObject({ exitCode: 1, all: expect.stringContaining(`with FUZZ_SEED=${seed}\n`) });
  expect(first.all).toContain('Error: 1001 is large (to repeat: ');
  expect(first.all).toContain('\n{"number":1001}\n');
  const again = await runFixture('failing', { FUZZ_SEED: seed, FUZZ_PATH: path });
  expect(again.all).toContain('Case 1 failed. The smallest that fails:\n{"number":1001}\n');
});

test('a case that takes too much processor time fails', async () => {
  const { exitCode, all } = await runFixture('slow');
  expect({ exitCode, all }).toMatchObject({
    exitCode: 1,
    all: expect.stringMatching(/took \d\.\d+ s of processor time/),
  });
});

test('a run ends after its time, with the number of cases, pasted ones first', async () => {
  const { exitCode, all } = await runFixture('passing');
  expect({ exitCode, all }).toMatchObject({
    exitCode: 0,
    all: expect.stringMatching(/known cases come first: \d+ cases/),
  });
  expect(all.match(/^case .*/m)?.[0]).toBe('case pasted');
});
