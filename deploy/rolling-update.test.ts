import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { root } from './compose-file.fixture.ts';

const update = join(root, 'deploy/rolling-update');

test('updates only services that can run twice', async () => {
  const { exitCode, stderr } = await execa(update, ['gateway', 'redis'], { reject: false });
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/^redis cannot be updated; /) });
});

test.runIf(process.platform === 'linux')('refuses a second update while one runs', async () => {
  const { exitCode, stderr } = await execa('flock', [root, update, 'gateway'], { reject: false });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'another update is running' });
});
