import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdDataDir } from './hold-data-dir.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hold-data-dir-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('creates the directory for one holder at a time, and reports its pid to others', async () => {
  const dir = join(folder, 'a', 'b');
  {
    await using _held = await holdDataDir(dir);
    expect((await stat(dir)).isDirectory()).toBe(true);
    expect(await modeOf(dir)).toBe(0o700);
    await expect(holdDataDir(`${dir}/../b/`)).rejects.toThrow(`Another Echodrop (process ${process.pid}) is using`);
    await using _other = await holdDataDir(join(folder, 'other'));
  }
  await using _again = await holdDataDir(dir);
});

test('restricts access to an existing directory and its folders', async () => {
  const dir = join(folder, 'open');
  await mkdir(join(dir, 'logs'), { recursive: true, mode: 0o755 });
  await chmod(dir, 0o755);
  await using _held = await holdDataDir(dir);
  expect([await modeOf(dir), await modeOf(join(dir, 'logs'))]).toEqual([0o700, 0o700]);
});

test('restricts access only to the folders of the system if the directory contains others', async () => {
  const dir = join(folder, 'shared');
  await mkdir(join(dir, 'logs'), { recursive: true });
  await mkdir(join(dir, 'photos'));
  for (const each of [dir, join(dir, 'logs'), join(dir, 'photos')]) await chmod(each, 0o755);
  await using _held = await holdDataDir(dir);
  expect([await modeOf(dir), await modeOf(join(dir, 'logs')), await modeOf(join(dir, 'photos'))]).toEqual([
    0o755, 0o700, 0o755,
  ]);
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test.each([
  ['/proc/nope', '/proc/nope'],
  ['/proc/nope/deeper', '/proc/nope'],
  ['/dev/null/data', '/dev/null'],
])('reports that %s cannot be created', async (dir, culprit) => {
  await expect(holdDataDir(dir)).rejects.toThrow(new RegExp(`^DATA_DIR cannot be created: .*${culprit}\\b`));
});
