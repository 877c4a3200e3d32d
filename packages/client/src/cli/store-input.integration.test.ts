import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import { expect, test } from 'vitest';

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
  'after %s no copy of standard input remains',
  async (signal) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'store-input-'));
    const env = {
      TMPDIR: folder.path,
      ECHODROP_URL: 'http://127.0.0.1:1',
      ECHODROP_KEY: 'key',
      ECHODROP_PROVIDER: 'https://social.example/verify',
      ECHODROP_BEARER: 'token',
    };
    const command = execa(process.execPath, [join(import.meta.dirname, 'main.ts'), 'upload', '-'], {
      env,
      reject: false,
      timeout: patienceMs,
    });
    command.stdin.write('the first bytes');
    await expect.poll(() => readdir(folder.path)).toHaveLength(1);
    command.kill(signal);
    expect((await command).signal).toBe(signal);
    expect(await readdir(folder.path)).toEqual([]);
  },
);
