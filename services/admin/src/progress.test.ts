import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { expect, test, vi } from 'vitest';
import { Progress } from './progress.ts';
import { watchedStore } from './watched-store.ts';

// More than a page, spread evenly.
const names = Array.from({ length: 1536 }, (_, n) => Math.floor((n * 65_536) / 1536).toString(16));

/** Names of four digits below any prefix, whose lists take no time. */
async function listKeys(prefix: string, { after = '', limit }: { after?: string | undefined; limit: number }) {
  const keys = names.map((name) => `${prefix}${name.padStart(4, '0')}`);
  return keys.filter((key) => key > after).slice(0, limit);
}

async function list(...args: Parameters<typeof listKeys>) {
  return (await listKeys(...args)).map((key) => ({ key }) as ListedObject);
}

test('a line says how much of a list is read; a finished list has no remaining time', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  using _ = { [Symbol.dispose]: () => vi.useRealTimers() };
  const lines: string[] = [];
  const progress = new Progress((line) => lines.push(line), 60_000);
  const store = watchedStore({ list, listKeys } as unknown as ObjectStore, new AbortController().signal, progress);
  const nextLines = () => {
    vi.advanceTimersByTime(60_000);
    return lines.splice(0);
  };
  const first = await store.listKeys('by-user/', { limit: 1000 });
  expect(nextLines()).toEqual(['by-user/: 1000 read, 17 a second, 65 %, about 33 s left of this list.']);
  expect(nextLines()).toEqual([]);
  // Neither a page of a reader nor a list below a folder is the list of the command.
  await store.listKeys('by-user/', { after: 'by-user/1', limit: 1 });
  await store.listKeys('renditions/00/', { limit: 1000 });
  expect(nextLines()).toEqual([]);
  await store.listKeys('by-user/', { after: first.at(-1), limit: 1000 });
  expect(nextLines()).toEqual([`by-user/: ${names.length} read.`]);
  // Its names are times.
  await store.listKeys('by-time/', { limit: 1000 });
  expect(nextLines()).toEqual(['by-time/: 1000 read, 17 a second.']);
  // From a cursor.
  await store.list('media/', { after: 'media/2', limit: 1000 });
  expect(nextLines()).toEqual(['media/: 1000 read, 17 a second, 77 %, about 21 s left of this list.']);
  // By turns with another list.
  const media = await store.list('media/', { limit: 1000 });
  await store.listKeys('renditions/', { limit: 1000 });
  await store.list('media/', { after: media.at(-1)?.key, limit: 1000 });
  expect(nextLines()).toEqual([`media/: ${names.length} read.`]);
  progress[Symbol.dispose]();
  await store.listKeys('records/', { limit: 1000 });
  expect(nextLines()).toEqual([]);
});
