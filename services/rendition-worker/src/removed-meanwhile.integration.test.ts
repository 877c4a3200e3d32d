import { Readable } from 'node:stream';
import type { MediaType } from '@echodrop/media/detect-media-type';
import {
  fullRecipe,
  pictureRecipes,
  picturesOf,
  type RenditionSet,
  recipesOf,
} from '@echodrop/media/rendition-recipes';
import { mediaObjectKey, newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type TestWorker, testWorker } from './test-worker.fixture.ts';

let worker: TestWorker;
let photo: Buffer;

beforeAll(async () => {
  worker = await testWorker();
  photo = await samplePhoto('jpg', { width: 320, height: 240 });
});
afterAll(() => worker[Symbol.asyncDispose]());

function storeThatPutsAfter(before: (key: string) => Promise<void>): ObjectStore {
  const put = async (...args: Parameters<ObjectStore['put']>) => {
    await before(args[0]);
    return worker.store.put(...args);
  };
  return new Proxy(worker.store, {
    get: (target, name) => ({ put, rereadMs: 0 })[name as string] ?? Reflect.get(target, name).bind(target),
  });
}

/** Renders, and runs `meanwhile` just before the picture named `last` is stored. */
function renderWhile(
  mediaKey: string,
  last: string,
  meanwhile: () => Promise<void>,
  signal?: AbortSignal,
): Promise<unknown> {
  const slow = storeThatPutsAfter(async (key) => {
    if (key.includes(`/${last}-`)) await meanwhile();
  });
  const set = last === full.name ? 'whole' : 'pictures';
  return worker.render({ mediaKey, type: 'jpg', set }, { store: slow }, signal);
}

function renderPictures(mediaKey: string, others: Parameters<TestWorker['render']>[1] = {}): Promise<unknown> {
  return worker.render({ mediaKey, type: 'jpg', set: 'pictures' }, others);
}

const removeMedia = (mediaKey: string) => worker.store.remove(mediaObjectKey(mediaKey));

function fail(): never {
  throw new StoreUnavailable('full');
}

async function takeDown(mediaKey: string): Promise<void> {
  await removeMedia(mediaKey);
  for (const key of await worker.keysOf(mediaKey)) await worker.store.remove(key);
}

const { large, mini } = pictureRecipes;
const full = fullRecipe('jpg');
const removed = 'the media was deleted from the store';
const jpgOff: ReadonlySet<MediaType> = new Set(['jpg']);

test.each<[string, string, (mediaKey: string, stop: () => void) => Promise<void>]>([
  ['is taken down before its smallest picture is stored', mini.name, takeDown],
  ['is taken down before its whole picture is stored', full.name, takeDown],
  ['is removed while the worker stops', large.name, (mediaKey, stop) => removeMedia(mediaKey).then(stop)],
  ['is removed before the store fails', large.name, (mediaKey) => removeMedia(mediaKey).then(fail)],
])('keeps no rendition of media that %s', async (_, last, meanwhile) => {
  const mediaKey = await worker.upload(photo);
  const stopped = new AbortController();
  const rendering = renderWhile(mediaKey, last, () => meanwhile(mediaKey, () => stopped.abort()), stopped.signal);
  await expect(rendering).rejects.toThrow(removed);
  expect(await worker.keysOf(mediaKey)).toEqual([]);
});

test.each([
  ['some', [mini, large]],
  ['all', picturesOf('jpg')],
])('removes renditions of removed media that a dead worker left when the job is retried: %s', async (_, left) => {
  const mediaKey = newMediaKey();
  for (const recipe of left) await worker.store.put(renditionKey(mediaKey, recipe), Readable.from(['picture']));
  await expect(renderPictures(mediaKey)).rejects.toThrow(removed);
  expect(await worker.keysOf(mediaKey)).toEqual([]);
});

test('keeps no rendition of removed media of a type that is turned off', async () => {
  const mediaKey = newMediaKey();
  await worker.store.put(renditionKey(mediaKey, mini), Readable.from(['picture']));
  const rendering = renderPictures(mediaKey, { typesOff: jpgOff });
  await expect(rendering).rejects.toThrow(removed);
  expect(await worker.keysOf(mediaKey)).toEqual([]);
});

test('keeps existing renditions of a type that is turned off, and does not read its media', async () => {
  const mediaKey = await worker.upload(photo);
  await worker.store.put(renditionKey(mediaKey, mini), Readable.from(['picture']));
  const read = vi.spyOn(worker.store, 'read');
  const off = { outcome: 'unsupported', why: 'type_off' };
  expect(await renderPictures(mediaKey, { typesOff: jpgOff })).toEqual(off);
  expect(read).not.toHaveBeenCalled();
  expect(await worker.keysOf(mediaKey)).toHaveLength(1);
});

/** A store in which `stat` of media gives these outcomes first: a node that misses it, or a store that is down. */
function storeWithStats(...outcomes: ('missing' | 'down')[]): ObjectStore {
  const stat = async (key: string) => {
    const outcome = key.startsWith('media/') ? outcomes.shift() : undefined;
    if (outcome === 'down') throw new StoreUnavailable('down');
    return outcome === 'missing' ? undefined : worker.store.stat(key);
  };
  return new Proxy(worker.store, {
    get: (target, name) => ({ stat, rereadMs: 1 })[name as string] ?? Reflect.get(target, name).bind(target),
  });
}

test.each([
  ['a node of the store misses its media for a moment', 'missing'],
  ['the store is down when the worker looks for its media', 'down'],
] as const)('a finished job keeps its outcome and its renditions if %s', async (_, outcome) => {
  const mediaKey = await worker.upload(photo);
  // The second job finds all renditions.
  for (const _job of [1, 2]) {
    expect(await renderPictures(mediaKey, { store: storeWithStats(outcome) })).toEqual({ outcome: 'made' });
    expect(await worker.keysOf(mediaKey)).toHaveLength(picturesOf('jpg').length - 1);
  }
});

test('a failed job keeps its error if the store is down when the worker looks for its media', async () => {
  const mediaKey = await worker.upload(photo);
  await worker.store.remove(mediaObjectKey(mediaKey));
  await expect(renderPictures(mediaKey, { store: storeWithStats('down') })).rejects.toThrow(
    'media not found in object store',
  );
});

test('keeps existing renditions after a failure', async () => {
  const mediaKey = await worker.upload(photo);
  const meanwhile = () => Promise.reject(new StoreUnavailable('full'));
  await expect(renderWhile(mediaKey, large.name, meanwhile)).rejects.toThrow('full');
  expect(await worker.keysOf(mediaKey)).not.toEqual([]);
});

test.each(['pictures', 'whole', 'film'] as const)(
  'makes a deleted rendition of the %s again, and keeps the others',
  async (set) => {
    const mediaKey = await uploadedVideo();
    const keys = recipesOf(set, { type: 'mp4' }).map((recipe) => renditionKey(mediaKey, recipe));
    // Every second one, and the last: the video.
    const deleted = keys.filter((_, n) => (keys.length - n) % 2 === 1);
    const statOthers = () =>
      Promise.all(keys.filter((key) => !deleted.includes(key)).map((key) => worker.store.stat(key)));
    const make = () => worker.render({ mediaKey, type: 'mp4', set });
    expect(await make()).toEqual({ outcome: 'made' });
    const before = await statOthers();
    for (const key of deleted) await worker.store.remove(key);
    expect(await make()).toEqual({ outcome: 'made' });
    expect((await worker.keysOf(mediaKey)).sort()).toEqual(keys.toSorted());
    expect(await statOthers()).toEqual(before);
  },
);

/** Uploads a small MP4. */
async function uploadedVideo(): Promise<string> {
  return worker.upload(await sampleVideo('mp4', { width: 64, height: 48 }));
}

function renderVideo(mediaKey: string, others: Parameters<TestWorker['render']>[1]): Promise<unknown> {
  return worker.render({ mediaKey, type: 'mp4', set: 'film' }, others);
}

test('makes a video without pictures, and reports both', async () => {
  const mediaKey = await uploadedVideo();
  const rendered: unknown[] = [];
  const observed = {
    ...worker.deps.events,
    rendered: ({ set }: { set: RenditionSet }, { outcome }: { outcome: string }) => rendered.push([set, outcome]),
  };
  const others = { maxPixels: 1000, events: observed };
  expect(await renderVideo(mediaKey, others)).toEqual({ outcome: 'made' });
  expect(rendered.splice(0)).toEqual([
    ['pictures', 'unsupported'],
    ['film', 'made'],
  ]);
  // The video exists already, and broken renditions are not retried.
  expect(await renderVideo(mediaKey, others)).toEqual({ outcome: 'made' });
  expect(rendered).toEqual([]);
});

test('makes a video whose poster cannot be stored, and fails the job', async () => {
  const mediaKey = await uploadedVideo();
  const refusing = storeThatPutsAfter(async (key) => {
    if (!key.endsWith('.mp4')) fail();
  });
  await expect(renderVideo(mediaKey, { store: refusing })).rejects.toThrow('full');
  expect(await worker.keysOf(mediaKey)).toEqual([expect.stringMatching(/\.mp4$/)]);
});
