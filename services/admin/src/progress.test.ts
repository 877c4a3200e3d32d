import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listKeys, listObjects } from '@echodrop/object-store/list-objects';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { reportProgress } from './progress.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

// More than a page, spread evenly.
const objects = 1536;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'progress-'));
  for (const prefix of ['media', 'by-user', 'by-time']) {
    mkdirSync(join(folder, 'objects', prefix), { recursive: true });
    for (let n = 0; n < objects; n += 1) {
      const name = Math.floor((n * 65_536) / objects).toString(16);
      writeFileSync(join(folder, 'objects', prefix, name.padStart(4, '0')), '');
    }
  }
});
afterAll(() => rm(folder, { recursive: true }));

test('a line says which part of how many, and how much of it is read; a finished part has no remaining time', async () => {
  await using store = new FilesystemObjectStore(folder);
  const lines: string[] = [];
  const stages = [['by-user/', 'by-time/'], ['media/']];
  using progress = reportProgress(store, { stages, log: (line) => lines.push(line), intervalMs: 60_000 });
  const nextLines = () => {
    vi.advanceTimersByTime(60_000);
    return lines.splice(0);
  };
  const { listKeys: list } = progress.store;
  await list('by-user/', { limit: 1000 });
  expect(nextLines()).toEqual(['Part 1 of 2, by-user/: 1000 read, 17 a second, 65 %, about 33 s left of this part.']);
  expect(nextLines()).toEqual([]);
  // Other lists of the same prefix, or of a part that is not next.
  await list('by-user/', { after: 'by-user/1', limit: 1 });
  await list('media/', { limit: 7 });
  await list('by-user/', { limit: 1000 });
  expect(nextLines()).toEqual([]);
  await list('by-user/', { after: (await store.listKeys('by-user/', { limit: 1000 })).at(-1), limit: 1000 });
  expect(nextLines()).toEqual([`Part 1 of 2, by-user/: ${objects} read.`]);
  // Its names are times, but it has as many entries.
  await list('by-time/', { limit: 1000 });
  expect(nextLines()).toEqual(['Part 2 of 2, by-time/: 1000 read, 17 a second, 65 %, about 33 s left of this part.']);
  for await (const _key of listObjects(progress.store, 'media/'));
  expect(nextLines()).toEqual([`Part 3 of 3, media/: ${objects} read.`]);
});

test('a skipped stage does not count, and a list may begin at a cursor', async () => {
  await using store = new FilesystemObjectStore(folder);
  const lines: string[] = [];
  const stages = [['records/', 'media/'], ['by-time/'], ['media/', 'renditions/']];
  const progress = reportProgress(store, { stages, log: (line) => lines.push(line), intervalMs: 60_000 });
  await progress.store.listKeys('by-time/', { limit: 1000 });
  vi.advanceTimersByTime(60_000);
  expect(lines.splice(0)).toEqual(['Part 1 of 1, by-time/: 1000 read, 17 a second.']);
  await progress.store.list('media/', { after: 'media/2', limit: 1000 });
  vi.advanceTimersByTime(60_000);
  expect(lines.splice(0)).toEqual(['Part 2 of 3, media/: 1000 read, 17 a second, 77 %, about 21 s left of this part.']);
  progress[Symbol.dispose]();
  await progress.store.listKeys('renditions/', { limit: 1000 });
  vi.advanceTimersByTime(120_000);
  expect(lines).toEqual([]);
});

test('passes all other calls on', async () => {
  await using store = new FilesystemObjectStore(folder);
  using progress = reportProgress(store, { stages: [], log: () => {}, intervalMs: 1000 });
  await progress.store.putIfAbsent('media/a', Buffer.alloc(3));
  expect(await progress.store.stat('media/a')).toMatchObject({ size: 3 });
  expect(progress.store.rereadMs).toBe(0);
  expect(await Array.fromAsync(listKeys(progress.store, 'media/'))).toHaveLength(objects + 1);
});
