import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lockFile } from './lock-file.ts';

const abandonedMs = 1000;

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test.each([
  ['free', false],
  ['that a killed process left', true],
])('one process at a time holds a lock %s, however long it takes', async (_, isLeft) => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.lock');
  if (isLeft) await writeFile(path, 'killed');
  let holders = 0;
  // The clock advances while the lock has no holder, or once its holder has touched the file: on a slow machine, that may take long.
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const waiting = setInterval(() => {
    if (holders === 0) now += abandonedMs / 20;
  }, 10);
  onTestFinished(() => clearInterval(waiting));
  const touchedAt = async () => (await stat(path)).mtimeMs;
  const hold = async () => {
    await using _lock = await lockFile(path, abandonedMs);
    holders += 1;
    expect(holders).toBe(1);
    for (const end = now + 2 * abandonedMs; now < end; now += abandonedMs / 5) {
      const before = await touchedAt();
      await expect.poll(touchedAt, { interval: 10 }).not.toBe(before);
    }
    holders -= 1;
  };
  await Promise.all([hold(), hold()]);
  expect(await readdir(folder)).toEqual([]);
});

test('a lock that is released between two looks is not taken for one of a killed process', async () => {
  const path = join(await temporaryFolder(), 'a.lock');
  // It exists for the creation of a file, and is gone for the look after that.
  await symlink('absent', path);
  const began = performance.now();
  await using _lock = await lockFile(path, abandonedMs);
  expect(performance.now() - began).toBeGreaterThan(abandonedMs);
});
