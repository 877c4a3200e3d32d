import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { root } from './compose-file.fixture.ts';

const update = join(root, 'deploy/rolling-update');

test('an update takes only what can run twice', async () => {
  const { exitCode, stderr } = await execa(update, ['gateway', 'redis'], { reject: false });
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/^redis cannot run twice; /) });
});

test.runIf(process.platform === 'linux')('while one update runs there is no other', async () => {
  const { exitCode, stderr } = await execa('flock', [root, update, 'gateway'], { reject: false });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'another update is running' });
});
