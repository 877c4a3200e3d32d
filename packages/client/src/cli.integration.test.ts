import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const cli = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  execa(process.execPath, [join(import.meta.dirname, 'cli.ts'), ...args], { env, reject: false, timeout: 10_000 });

test('a file that is not there is told with the full path that was tried', async () => {
  const { exitCode, stderr } = await cli(['upload', 'sea.jpg'], { INIT_CWD: '/no/such/folder' });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("'/no/such/folder/sea.jpg'");
});

test('with another identity provider it says that credentials are needed, and how they are given', async () => {
  const { exitCode, stdout, stderr } = await cli(['sign'], { IDENTITY_PROVIDERS: 'https://id.example/verify' });
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^Credentials of a user of https:\/\/id\.example\/verify are needed/);
  expect(stderr).toContain('ECHODROP_CONSUMER_KEY');
});
