import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdDataDir } from './hold-data-dir.ts';

let folder: string;
const { signal } = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hold-data-dir-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('a directory is made, and held by one at a time, whose pid the other one is told', async () => {
  const dir = join(folder, 'a', 'b');
  {
    using _held = await holdDataDir(dir, signal);
    expect((await stat(dir)).isDirectory()).toBe(true);
    await expect(holdDataDir(`${dir}/../b/`, signal)).rejects.toThrow(
      `another system (process ${process.pid}) is running`,
    );
    using _other = await holdDataDir(join(folder, 'other'), signal);
  }
  using _again = await holdDataDir(dir, signal);
});

test.each([
  ['/proc/nope', '/proc/nope'],
  ['/proc/nope/deeper', '/proc/nope'],
  ['/dev/null/data', '/dev/null'],
])('%s cannot be made, and that is said', async (dir, culprit) => {
  await expect(holdDataDir(dir, signal)).rejects.toThrow(new RegExp(`^DATA_DIR cannot be made: .*${culprit}\\b`));
});

test('a stop ends the wait', async () => {
  await expect(holdDataDir(join(folder, 'stopped'), AbortSignal.abort())).rejects.toThrow('aborted');
});
