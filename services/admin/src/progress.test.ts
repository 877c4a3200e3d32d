import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listKeys, listObjects } from '@echodrop/object-store/list-objects';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reportProgress } from './progress.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('reports rate, share and remaining time of long lists, each once', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'progress-'));
  await using store = new FilesystemObjectStore(folder.path);
  for (let n = 0; n < 256; n += 1) await store.putIfAbsent(`media/${n.toString(16).padStart(2, '0')}`, Buffer.alloc(0));
  await store.putIfAbsent('by-time/a', Buffer.alloc(0));
  const lines: string[] = [];
  const progress = reportProgress(store, (line) => lines.push(line), 60_000);
  await progress.store.listKeys('media/', { limit: 64 });
  vi.advanceTimersByTime(60_000);
  expect(lines.splice(0)).toEqual(['Reading media/: 64, 1 a second, 24 %, about 4 min left.']);
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([]);
  await progress.store.list('media/', { after: 'media/3f', limit: 128 });
  await progress.store.listKeys('by-time/', { limit: 9 });
  vi.advanceTimersByTime(60_000);
  expect(lines.splice(0)).toEqual([
    'Reading media/: 192, 1 a second, 74 %, about 62 s left.',
    expect.stringMatching(/^Reading by-time\/: 1, \d+ a second\.$/),
  ]);
  // A list that continues an earlier command's.
  const continued = reportProgress(store, (line) => lines.push(line), 60_000);
  await continued.store.listKeys('media/', { after: 'media/7f', limit: 64 });
  vi.advanceTimersByTime(60_000);
  expect(lines.splice(0)).toEqual(['Reading media/: 64, 1 a second, 74 %, about 61 s left.']);
  progress[Symbol.dispose]();
  continued[Symbol.dispose]();
  await continued.store.listKeys('media/', { limit: 64 });
  vi.advanceTimersByTime(120_000);
  expect(lines).toEqual([]);
});

test('passes all other calls on', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'progress-'));
  await using store = new FilesystemObjectStore(folder.path);
  using progress = reportProgress(store, () => {}, 1000);
  await progress.store.putIfAbsent('media/a', Buffer.alloc(3));
  expect(await progress.store.stat('media/a')).toMatchObject({ size: 3 });
  expect(progress.store.rereadMs).toBe(0);
  expect(await Array.fromAsync(listKeys(progress.store, 'media/'))).toEqual(['media/a']);
  expect(await Array.fromAsync(listObjects(progress.store, 'media/'))).toHaveLength(1);
});
