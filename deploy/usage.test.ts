import { existsSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { root } from './compose-file.fixture.ts';

describe.each([
  ['npm run sandbox', [process.execPath, 'services/sandbox-provider/src/main.ts']],
  ['npm run overlay', [process.execPath, 'deploy/kubernetes/overlay/main.ts']],
  ['deploy/make-secrets', ['./deploy/make-secrets']],
  ['deploy/rolling-update', ['./deploy/rolling-update']],
  ['deploy/backup', ['./deploy/backup']],
  ['deploy/pin-images', ['./deploy/pin-images']],
])('%s', (name, [file = '', ...args]) => {
  const run = async (argument: string) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-usage-'));
    const secrets = join(folder.path, 'secrets');
    const env = { INIT_CWD: folder.path, SECRETS_DIR: secrets };
    const options = { cwd: root, env, reject: false, timeout: patienceMs };
    const { exitCode, stdout, stderr } = await execa(file, [...args, argument], options);
    return { exitCode, stdout, stderr, hasMade: existsSync(secrets) || existsSync(join(folder.path, argument)) };
  };

  test('--help prints the usage and does nothing', async () => {
    const usage = expect.stringMatching(new RegExp(`^Usage: ${name}`));
    expect(await run('--help')).toEqual({ exitCode: 0, stdout: usage, stderr: '', hasMade: false });
  });

  test('refuses an unknown option', async () => {
    const usage = expect.stringMatching(new RegExp(`^Usage: ${name}`));
    expect(await run('--halp')).toEqual({ exitCode: 64, stdout: '', stderr: usage, hasMade: false });
  });
});
