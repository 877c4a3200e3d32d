import { chown, mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createScratchFolder } from './scratch-folder.ts';

let shared: string;
beforeEach(async () => {
  shared = await mkdtemp(join(tmpdir(), 'own-scratch-'));
});
afterEach(() => rm(shared, { recursive: true }));

async function leaveFolder(name: string, secondsAgo: number): Promise<string> {
  const folder = join(shared, name);
  await mkdir(join(folder, 'job-1'), { recursive: true });
  await writeFile(join(folder, 'job-1', 'media'), 'a photo');
  const then = new Date(Date.now() - secondsAgo * 1000);
  await utimes(folder, then, then);
  return name;
}

test('removes only folders of dead workers at the start', async () => {
  await leaveFolder('some-worker-dead', 61);
  const kept = [await leaveFolder('some-worker-alive', 20), await leaveFolder('folder-of-another-service', 3600)];
  await using scratch = await createScratchFolder(shared, 'some-worker');
  expect((await readdir(shared)).sort()).toEqual([basename(scratch.path), ...kept].sort());
});

const isRoot = process.getuid?.() === 0;
test('ignores links, and folders of other users', unlessMissing({ root: isRoot }), async () => {
  const others = await leaveFolder('some-worker-of-another-user', 3600);
  await chown(join(shared, others), 12_345, 12_345);
  const target = await leaveFolder('target', 3600);
  await symlink(join(shared, target), join(shared, 'some-worker-link'));
  await using scratch = await createScratchFolder(shared, 'some-worker');
  expect((await readdir(shared)).sort()).toEqual([basename(scratch.path), 'some-worker-link', others, target].sort());
});

test('a running worker removes orphans and keeps its own folder', async () => {
  const beats = { everyMs: 20, deadAfterMs: 60_000 };
  await using first = await createScratchFolder(shared, 'some-worker', beats);
  await using second = await createScratchFolder(shared, 'some-worker', beats);
  await leaveFolder('some-worker-dead', 61);
  await expect
    .poll(() => readdir(shared).then((names) => names.sort()))
    .toEqual([basename(first.path), basename(second.path)].sort());
  await writeFile(join(first.path, 'still-there'), '');
  // Each beat makes the own folder younger, for the others too.
  for (const { path } of [first, second]) {
    const { mtimeMs } = await stat(path);
    await expect.poll(async () => (await stat(path)).mtimeMs).toBeGreaterThan(mtimeMs);
  }
  expect(await readdir(first.path)).toContain('still-there');
});

/** Runs `what` with a clock that is off by `ms`. */
async function withClockOff<T>(ms: number, what: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  try {
    return await what();
  } finally {
    vi.useRealTimers();
  }
}

test('workers with clocks an hour apart keep the folders of each other and remove orphans', async () => {
  const hour = 3_600_000;
  await leaveFolder('some-worker-dead', 61);
  const own = () => createScratchFolder(shared, 'some-worker');
  await using behind = await withClockOff(-hour, own);
  await using ahead = await withClockOff(hour, own);
  await using right = await own();
  expect((await readdir(shared)).sort()).toEqual([behind, ahead, right].map(({ path }) => basename(path)).sort());
});

test('recreates a folder that others removed', async () => {
  await using scratch = await createScratchFolder(shared, 'some-worker', { everyMs: 20, deadAfterMs: 60_000 });
  await rm(scratch.path, { recursive: true });
  await expect.poll(() => readdir(shared)).toEqual([basename(scratch.path)]);
});

test('disposing removes the folder', async () => {
  const scratch = await createScratchFolder(shared, 'some-worker');
  await writeFile(join(scratch.path, 'media'), 'a photo');
  await scratch[Symbol.asyncDispose]();
  expect(await readdir(shared)).toEqual([]);
});
