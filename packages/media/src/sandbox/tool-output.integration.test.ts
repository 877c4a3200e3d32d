import { link, mkdir, mkdtempDisposable, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { ToolFailed } from './run-tool.ts';
import { maxOutputBytes } from './tool-limits.ts';
import { openToolOutput } from './tool-output.ts';

let jpeg: Buffer;
let png: Buffer;
beforeAll(async () => {
  jpeg = await samplePhoto('jpg', { width: 800, height: 600 });
  png = await samplePhoto('png', { width: 32, height: 24 });
});

async function openOutput(leave: (path: string, folder: string) => Promise<unknown>) {
  await using root = await mkdtempDisposable(join(tmpdir(), 'tool-output-'));
  const folder = join(root.path, 'job');
  await mkdir(folder);
  await leave(join(folder, 'large.jpg'), folder);
  await using output = await openToolOutput(join(folder, 'large.jpg'), 'jpg');
  return await buffer(output.stream());
}

const sparse = (bytes: number) => async (path: string) => {
  await writeFile(path, jpeg);
  await truncate(path, bytes);
};

test.each<[string, string, (path: string, folder: string) => Promise<unknown>]>([
  ['nothing', 'missing', async () => undefined],
  ['a symbolic link to a secret', 'link', (path) => symlink('/proc/self/environ', path)],
  [
    'a symbolic link to another picture',
    'link',
    async (path, folder) => {
      await writeFile(join(folder, 'other.jpg'), jpeg);
      await symlink('other.jpg', path);
    },
  ],
  [
    'a hard link',
    'link',
    async (path, folder) => {
      await writeFile(join(folder, 'other.jpg'), jpeg);
      await link(join(folder, 'other.jpg'), path);
    },
  ],
  [
    'a link instead of the job folder',
    'link',
    async (path, folder) => {
      await writeFile(path, jpeg);
      await rename(folder, `${folder}-moved`);
      await symlink(`${folder}-moved`, folder);
    },
  ],
  ['a FIFO', 'not_a_file', (path) => execa('mkfifo', [path])],
  ['a folder', 'not_a_file', (path) => mkdir(path)],
  ['a sparse file of 1 TiB', 'too_large', sparse(1024 ** 4)],
  ['one byte more than the limit for pictures', 'too_large', sparse(maxOutputBytes.picture + 1)],
  ['another format', 'wrong_format', (path) => writeFile(path, png)],
  ['an empty file', 'wrong_format', (path) => writeFile(path, '')],
])('refuses %s instead of a JPEG', async (_, fault, leave) => {
  await expect(openOutput(leave)).rejects.toMatchObject({ name: 'OutputRefused', file: 'large.jpg', fault });
});

test('reports a missing job folder as a breakdown', async () => {
  await expect(openOutput((_, folder) => rm(folder, { recursive: true }))).rejects.toThrow(ToolFailed);
});

test('streams a JPEG unchanged', async () => {
  expect(jpeg.length).toBeGreaterThan(16 * 1024);
  expect(await openOutput((path) => writeFile(path, jpeg))).toEqual(jpeg);
});
