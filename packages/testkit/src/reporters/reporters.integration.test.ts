import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

/** Runs the tests of the folder `fixture`. */
function runFixture(env: Record<string, string> = {}, more: readonly string[] = []) {
  const config = join(import.meta.dirname, 'fixture/vitest.config.ts');
  // A report that this run is to write is not the fixture's.
  const own = { REQUIRE_BROWSER: '', JSON_REPORT: undefined, ...env };
  const options = { env: own, preferLocal: true, reject: false, all: true } as const;
  return execa('vitest', ['run', '--config', config, ...more], options);
}

test('a run ends with what it skipped and how to get it', async () => {
  const { exitCode, all } = await runFixture();
  expect({ exitCode, all }).toMatchObject({ exitCode: 0 });
  expect(all.trimEnd().split('\n').slice(-3)).toEqual([
    '3 skipped: Chromium is missing. To run them: apt-get install chromium',
    '1 skipped: mc is missing. To run them: set MC_BIN to a MinIO client; root is missing. To run them: run the tests as root',
    '1 skipped: the registry does not respond',
  ]);
});

test('a missing tool fails the run if it is required', async () => {
  const { exitCode, all } = await runFixture({ REQUIRE_BROWSER: '1' });
  expect(exitCode).toBe(1);
  expect(all).toContain('REQUIRE_BROWSER=1, but Chromium is missing');
});

test('a run of some tests reports only the skipped ones among these', async () => {
  const { all } = await runFixture({}, ['-t', 'in a group']);
  expect(all).toContain('2 skipped: Chromium');
  expect(all).not.toContain('mc is missing');
});
