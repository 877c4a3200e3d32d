import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createScratchFolder } from './own-scratch.ts';

let shared: string;
beforeEach(async () => {
  shared = await mkdtemp(join(tmpdir(), 'own-scratch-'));
});
afterEach(() => rm(shared, { recursive: true }));

async function leftBy(name: string, secondsAgo: number): Promise<string> {
  const folder = join(shared, name);
  await mkdir(join(folder, 'job-1'), { recursive: true });
  await writeFile(join(folder, 'job-1', 'media'), 'a photo of somebody');
  const then = new Date(Date.now() - secondsAgo * 1000);
  await utimes(folder, then, then);
  return name;
}

test('what a dead worker left is removed at the start of another, and nothing else is', async () => {
  await leftBy('some-worker-dead', 61);
  const kept = [await leftBy('some-worker-alive', 20), await leftBy('video-of-somebody-else', 3600)];
  await using scratch = await createScratchFolder(shared, 'some-worker');
  expect((await readdir(shared)).sort()).toEqual([basename(scratch.path), ...kept].sort());
});

test('a worker that lives long removes what others leave, and keeps its own', async () => {
  const beats = { everyMs: 20, deadAfterMs: 400 };
  await using first = await createScratchFolder(shared, 'some-worker', beats);
  await using second = await createScratchFolder(shared, 'some-worker', beats);
  await leftBy('some-worker-dying', 0);
  await expect
    .poll(() => readdir(shared).then((names) => names.sort()), { timeout: 5000 })
    .toEqual([basename(first.path), basename(second.path)].sort());
  await writeFile(join(first.path, 'still-there'), '');
});

/** Does `what` on a machine whose clock is wrong by `ms`. */
async function withClockOff<T>(ms: number, what: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  try {
    return await what();
  } finally {
    vi.useRealTimers();
  }
}

test('workers whose clocks are an hour apart leave each other alone, and remove what the dead left', async () => {
  const hour = 3_600_000;
  await leftBy('some-worker-dead', 61);
  const own = () => createScratchFolder(shared, 'some-worker');
  await using behind = await withClockOff(-hour, own);
  await using ahead = await withClockOff(hour, own);
  await using right = await own();
  expect((await readdir(shared)).sort()).toEqual([behind, ahead, right].map(({ path }) => basename(path)).sort());
});

test('a folder that others removed while its process was suspended comes back', async () => {
  await using scratch = await createScratchFolder(shared, 'some-worker', { everyMs: 20, deadAfterMs: 60_000 });
  await rm(scratch.path, { recursive: true });
  await expect.poll(() => readdir(shared)).toEqual([basename(scratch.path)]);
});

test('disposing leaves nothing', async () => {
  const scratch = await createScratchFolder(shared, 'some-worker');
  await writeFile(join(scratch.path, 'media'), 'a photo');
  await scratch[Symbol.asyncDispose]();
  expect(await readdir(shared)).toEqual([]);
});
