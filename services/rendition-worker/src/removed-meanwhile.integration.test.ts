import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { MediaType } from '@echodrop/media/detect-media-type';
import { fullRecipe, pictureRecipes, picturesOf, type RenditionSet } from '@echodrop/media/rendition-recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, renditionKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { laneLimits } from './lanes.ts';
import { render } from './render.ts';
import { MediaRemoved } from './run-unless-removed.ts';

const parts = new AsyncDisposableStack();
const events = { rendered() {}, notShown() {}, outputRefused() {}, noteFailed() {}, jobEnded() {} };
const usual = { limits: laneLimits.slow, tools: 'tools' };
let store: FilesystemObjectStore;
let scratchDir: string;
let photo: Buffer;

beforeAll(async () => {
  const newFolder = async () => parts.use(await mkdtempDisposable(join(tmpdir(), 'rendition-worker-test-'))).path;
  store = parts.use(new FilesystemObjectStore(await newFolder()));
  scratchDir = await newFolder();
  photo = await samplePhoto('jpg', { width: 320, height: 240 });
});
afterAll(() => parts.disposeAsync());

async function uploaded(): Promise<string> {
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([photo]));
  return mediaKey;
}

function storeThatPutsAfter(before: (key: string) => Promise<void>): ObjectStore {
  const put = async (...args: Parameters<ObjectStore['put']>) => {
    await before(args[0]);
    return store.put(...args);
  };
  return new Proxy(store, {
    get: (target, name) => ({ put, rereadMs: 0 })[name as string] ?? Reflect.get(target, name).bind(target),
  });
}

/** Renders, and runs `meanwhile` just before the picture named `last` is stored. */
function renderWhile(
  mediaKey: string,
  last: string,
  meanwhile: () => Promise<void>,
  signal = new AbortController().signal,
): Promise<unknown> {
  const slow = storeThatPutsAfter(async (key) => {
    if (key.includes(`/${last}-`)) await meanwhile();
  });
  return renderWith(slow, mediaKey, { signal, set: last === full.name ? 'whole' : 'pictures' });
}

function renderWith(
  store: ObjectStore,
  mediaKey: string,
  {
    set = 'pictures',
    signal = new AbortController().signal,
    typesOff = new Set(),
  }: { set?: RenditionSet; signal?: AbortSignal; typesOff?: ReadonlySet<MediaType> } = {},
): Promise<unknown> {
  const rendering = { ...usual, store, scratchDir, maxPixels: 1_000_000, typesOff, events };
  return render({ mediaKey, type: 'jpg', set }, signal, rendering);
}

async function takeDown(mediaKey: string): Promise<void> {
  await store.remove(mediaObjectKey(mediaKey));
  for (const key of await keysOf(mediaKey)) await store.remove(key);
}

async function keysOf(mediaKey: string): Promise<string[]> {
  return (await store.list(renditionsPrefixOf(mediaKey), { limit: 100 })).map(({ key }) => key);
}

const { large, mini } = pictureRecipes;
const full = fullRecipe('jpg');
const removed = 'the media was deleted from the store';

test.each([mini.name, full.name])(
  'keeps no rendition of media that is taken down before its %s is stored',
  async (name) => {
    const mediaKey = await uploaded();
    await expect(renderWhile(mediaKey, name, () => takeDown(mediaKey))).rejects.toThrow(removed);
    expect(await keysOf(mediaKey)).toEqual([]);
  },
);

test('keeps no rendition of removed media if the worker is stopped meanwhile', async () => {
  const mediaKey = await uploaded();
  const stopped = new AbortController();
  const meanwhile = async () => {
    await store.remove(mediaObjectKey(mediaKey));
    stopped.abort();
  };
  await expect(renderWhile(mediaKey, large.name, meanwhile, stopped.signal)).rejects.toThrow();
  expect(await keysOf(mediaKey)).toEqual([]);
});

test('keeps no rendition of removed media if the store fails meanwhile', async () => {
  const mediaKey = await uploaded();
  const meanwhile = async () => {
    await store.remove(mediaObjectKey(mediaKey));
    throw new StoreUnavailable('full');
  };
  await expect(renderWhile(mediaKey, large.name, meanwhile)).rejects.toThrow();
  expect(await keysOf(mediaKey)).toEqual([]);
});

test.each([
  ['some', [mini, large]],
  ['all', picturesOf('jpg')],
])('removes renditions of removed media that a dead worker left when the job is retried: %s', async (_, left) => {
  const mediaKey = newMediaKey();
  for (const recipe of left) await store.put(renditionKey(mediaKey, recipe), Readable.from(['picture']));
  await expect(renderWith(store, mediaKey)).rejects.toThrow(removed);
  expect(await keysOf(mediaKey)).toEqual([]);
});

test('keeps no rendition of removed media of a type that is turned off', async () => {
  const mediaKey = newMediaKey();
  await store.put(renditionKey(mediaKey, mini), Readable.from(['picture']));
  const rendering = renderWith(store, mediaKey, { typesOff: new Set(['jpg']) });
  await expect(rendering).rejects.toThrow(removed);
  expect(await keysOf(mediaKey)).toEqual([]);
});

test('keeps existing renditions of a type that is turned off', async () => {
  const mediaKey = await uploaded();
  await store.put(renditionKey(mediaKey, mini), Readable.from(['picture']));
  const off = { outcome: 'unsupported', why: 'type_off' };
  expect(await renderWith(store, mediaKey, { typesOff: new Set(['jpg']) })).toEqual(off);
  expect(await keysOf(mediaKey)).toHaveLength(1);
});

/** A store in which `stat` of media gives these outcomes first: a node that misses it, or a store that is down. */
function storeWithStats(...outcomes: ('missing' | 'down')[]): ObjectStore {
  const stat = async (key: string) => {
    const outcome = key.startsWith('media/') ? outcomes.shift() : undefined;
    if (outcome === 'down') throw new StoreUnavailable('down');
    return outcome === 'missing' ? undefined : store.stat(key);
  };
  return new Proxy(store, {
    get: (target, name) => ({ stat, rereadMs: 1 })[name as string] ?? Reflect.get(target, name).bind(target),
  });
}

test.each([
  ['a node of the store misses its media for a moment', 'missing'],
  ['the store is down when the worker looks for its media', 'down'],
] as const)('a finished job keeps its outcome and its renditions if %s', async (_, outcome) => {
  const mediaKey = await uploaded();
  // The second job finds all renditions.
  for (const _job of [1, 2]) {
    expect(await renderWith(storeWithStats(outcome), mediaKey)).toEqual({ outcome: 'made' });
    expect(await keysOf(mediaKey)).toHaveLength(picturesOf('jpg').length - 1);
  }
});

test('a failed job keeps its error if the store is down when the worker looks for its media', async () => {
  const mediaKey = await uploaded();
  await store.remove(mediaObjectKey(mediaKey));
  await expect(renderWith(storeWithStats('down'), mediaKey)).rejects.toThrow('media not found in object store');
});

test('keeps existing renditions after a failure', async () => {
  const mediaKey = await uploaded();
  const meanwhile = () => Promise.reject(new StoreUnavailable('full'));
  await expect(renderWhile(mediaKey, large.name, meanwhile)).rejects.toThrow('full');
  expect(await keysOf(mediaKey)).not.toEqual([]);
});

test('removes pictures of a video that is removed while they are stored, before making the video', async () => {
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([await sampleVideo('mp4', { width: 64, height: 48 })]));
  const rendered: unknown[] = [];
  const observed = { ...events, rendered: ({ set }: { set: RenditionSet }) => rendered.push(set) };
  const removing = storeThatPutsAfter(() => takeDown(mediaKey));
  // The worker looks every two seconds whether the media was removed, and may do so before the last picture is stored.
  const stat = store.stat.bind(store);
  vi.spyOn(store, 'stat').mockImplementation(async (key) => {
    if (rendered.length === 0) throw new StoreUnavailable('until all pictures are stored');
    return stat(key);
  });
  const rendering = {
    ...usual,
    store: removing,
    scratchDir,
    maxPixels: 1_000_000,
    typesOff: new Set<MediaType>(),
    events: observed,
  };
  const question = { mediaKey, type: 'mp4', set: 'film' } as const;
  await expect(render(question, new AbortController().signal, rendering)).rejects.toThrow(MediaRemoved);
  expect(rendered).toEqual(['pictures']);
  expect(await keysOf(mediaKey)).toEqual([]);
});

test('makes a video without pictures, and reports both', async () => {
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([await sampleVideo('mp4', { width: 64, height: 48 })]));
  const rendered: unknown[] = [];
  const observed = {
    ...events,
    rendered: ({ set }: { set: RenditionSet }, { outcome }: { outcome: string }) => rendered.push([set, outcome]),
  };
  const rendering = { ...usual, store, scratchDir, maxPixels: 1000, typesOff: new Set<MediaType>(), events: observed };
  const question = { mediaKey, type: 'mp4', set: 'film' } as const;
  expect(await render(question, new AbortController().signal, rendering)).toEqual({ outcome: 'made' });
  expect(rendered.splice(0)).toEqual([
    ['pictures', 'unsupported'],
    ['film', 'made'],
  ]);
  // The video exists already, and broken renditions are not retried.
  expect(await render(question, new AbortController().signal, rendering)).toEqual({ outcome: 'made' });
  expect(rendered).toEqual([]);
});

test('makes a video whose poster cannot be stored, and fails the job', async () => {
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([await sampleVideo('mp4', { width: 64, height: 48 })]));
  const refusing = storeThatPutsAfter(async (key) => {
    if (!key.endsWith('.mp4')) throw new StoreUnavailable('full');
  });
  const rendering = {
    ...usual,
    store: refusing,
    scratchDir,
    maxPixels: 1_000_000,
    typesOff: new Set<MediaType>(),
    events,
  };
  const question = { mediaKey, type: 'mp4', set: 'film' } as const;
  await expect(render(question, new AbortController().signal, rendering)).rejects.toThrow('full');
  expect(await keysOf(mediaKey)).toEqual([expect.stringMatching(/\.mp4$/)]);
});
