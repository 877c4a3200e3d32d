import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

test('no name of an object changes what a terminal shows, and the exit status is that of rclone', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-copy-'));
  const rclone = `#!/bin/sh\nprintf 'cannot read \\302\\233 31m \\342\\200\\256 \\033[2J end\\n' >&2\nexit 3\n`;
  await writeFile(join(folder.path, 'rclone'), rclone, { mode: 0o755 });
  await writeFile(join(folder.path, 'key'), 'key');
  const env = {
    PATH: `${folder.path}:${process.env.PATH}`,
    COPY: join(folder.path, 'copy'),
    S3_ENDPOINT: 'http://127.0.0.1:9000',
    S3_BUCKET: 'echodrop',
    S3_ACCESS_KEY_FILE: join(folder.path, 'key'),
    S3_SECRET_KEY_FILE: join(folder.path, 'key'),
  };
  const { exitCode, stderr } = await execa(join(import.meta.dirname, 'copy-objects'), ['back-up'], {
    env,
    reject: false,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: 'cannot read ?? 31m ??? ?[2J end' });
});
