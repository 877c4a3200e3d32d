import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

test('the container that copies objects gets no secrets, also of earlier copies', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-backup-'));
  const inFolder = (name: string) => join(folder.path, name);
  const copy = inFolder('copy');
  const secrets = inFolder('secrets');
  const calls = inFolder('calls');
  await mkdir(secrets);
  await writeFile(join(secrets, 'S3_ROOT_PASSWORD'), 'secret');
  await writeFile(inFolder('docker'), `#!/bin/sh\nprintf '%s\\n' "$@" >>${calls}\n`, { mode: 0o755 });
  const env = { PATH: `${folder.path}:${process.env.PATH}`, SECRETS_DIR: secrets };
  for (const args of [[copy], [copy], ['--restore', copy]])
    await execa(join(import.meta.dirname, 'backup'), args, { env });
  const mounts = (await readFile(calls, 'utf8')).match(/^.*:\/copy$/gm);
  expect(mounts).toEqual(Array.from({ length: 3 }, () => `${copy}/objects:/copy`));
  expect(await readdir(join(copy, 'objects'), { recursive: true })).toEqual([]);
  expect(await readdir(join(copy, 'secrets'))).toEqual(['S3_ROOT_PASSWORD']);
});
