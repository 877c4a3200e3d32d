import { copyFile, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

/** Runs deploy/install in a clone whose packages are installed, with this program as its Node. */
async function runInstall(node: string) {
  await using clone = await mkdtempDisposable(join(tmpdir(), 'install-'));
  const { path } = clone;
  for (const folder of ['deploy', 'node_modules/.pnpm', 'node_modules/.bin'])
    await mkdir(join(path, folder), { recursive: true });
  await copyFile(join(import.meta.dirname, 'install'), join(path, 'deploy/install'));
  for (const lock of ['pnpm-lock.yaml', 'node_modules/.pnpm/lock.yaml']) await writeFile(join(path, lock), 'lock');
  await writeFile(join(path, 'node_modules/.bin/node'), node, { mode: 0o755 });
  return await execa('sh', ['deploy/install', 'echo', 'started'], { cwd: path, reject: false });
}

test('starts the command', async () => {
  expect(await runInstall('#!/bin/sh\n')).toMatchObject({ exitCode: 0, stdout: 'started' });
});

test('says where to read on if Node from npm cannot run, as without glibc', async () => {
  const { exitCode, stdout, stderr } = await runInstall('#!/lib/no-such-loader\n');
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'Node from npm does not run on this system, probably because it has no glibc. See docs/start/npm-start.md.',
  );
});
