import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const cli = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  execa(process.execPath, [join(import.meta.dirname, 'cli.ts'), ...args], { env, reject: false, timeout: 10_000 });

test('the error for a missing file contains its full path', async () => {
  const { exitCode, stderr } = await cli(['upload', 'sea.jpg'], { INIT_CWD: '/no/such/folder' });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("'/no/such/folder/sea.jpg'");
});

test('with another identity provider, explains how to pass credentials', async () => {
  const { exitCode, stdout, stderr } = await cli(['sign'], { IDENTITY_PROVIDERS: 'https://id.example/verify' });
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^Missing credentials for https:\/\/id\.example\/verify/);
  expect(stderr).toContain('ECHODROP_CONSUMER_KEY');
});
