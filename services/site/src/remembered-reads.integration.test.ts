import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionReply } from '@echodrop/contracts/rendition';
import { fullRecipe, picturesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { serveSite } from './app.fixture.ts';
import { rememberedMs } from './find/read-memory.ts';
import { SharedRenditions } from './find/shared-renditions.ts';
import { proxySeconds } from './serve/allow-proxy-cache.ts';
import { maxSharedBytes } from './serve/open-shared.ts';
import { maxSmallBytes } from './serve/send-object.ts';
import { newStore, publishSample, removeUpload } from './site.fixture.ts';

const owner = { provider: 'https://id.example/verify', subject: 'ada' };
const size = { width: 1600, height: 1200 };

let resources: AsyncDisposableStack;
let store: FilesystemObjectStore;
/** Calls of the store, such as `read records`. */
let calls: string[];
let isDown: boolean;
/** Makes renditions. */
let make: () => Promise<RenditionReply>;
/** The clock of the memory. */
let now: number;
let site: string;

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  [calls, isDown, now] = [[], false, Math.floor(performance.now())];
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  make = () => Promise.reject(new Error('unexpected request'));
  store = await newStore(resources);
  const renditions = new SharedRenditions({ make: () => make() }, store);
  site = await serveSite(resources, { store: counted(store), make: (...request) => renditions.make(...request) });
});
afterEach(() => resources.disposeAsync());

function counted(target: ObjectStore): ObjectStore {
  return new Proxy(target, {
    get: (_, name: keyof ObjectStore) => {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        calls.push(`${String(name)} ${String(args[0]).split('/')[0]}`);
        if (isDown) return Promise.reject(new StoreUnavailable('down'));
        return Reflect.apply(value, target, args);
      };
    },
  });
}

async function putPictures(mediaKey: string, type: 'jpg' | 'webp' = 'jpg', bytes = 0): Promise<void> {
  for (const recipe of picturesOf(type)) {
    const content = `${recipe.name} as ${recipe.extension}`;
    await store.put(renditionKey(mediaKey, recipe), Readable.from([content.padEnd(bytes, '.')]));
  }
}

async function publish(type: 'jpg' | 'webp' = 'jpg'): Promise<{ id: string; mediaKey: string }> {
  const mediaKey = newMediaKey();
  await putPictures(mediaKey, type);
  return { id: await publishSample(store, Buffer.from('media'), { ...owner, ...size, mediaKey, type }), mediaKey };
}

async function responseOf(path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`${site}${path}`, { redirect: 'manual' });
  return { status: response.status, body: await response.text() };
}

async function statusOf(path: string): Promise<number> {
  return (await responseOf(path)).status;
}

const addressesOf = (id: string, type: string) => [
  ...[`/${id}`, `/${id}.${type}`, `/show/thumb/${id}`, `/show/full/${id}`],
  ...picturesOf('jpg').flatMap(({ name, extension }) => (name === 'full' ? [] : [`/${id}/${name}.${extension}`])),
  `/oembed?url=https://pics.example/${id}`,
];

test.each(['jpg', 'webp'] as const)(
  'a %s, its page and the page of its user take no call of the store while they are remembered',
  async (type) => {
    const { id } = await publish(type);
    const paths = [...addressesOf(id, type), `/by/${ownerHash(owner)}`];
    const responses = () => Promise.all(paths.map(responseOf));
    const first = await responses();
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200, 302]));
    expect(calls).not.toEqual([]);
    calls = [];
    now += rememberedMs;
    expect(await responses()).toEqual(first);
    expect(calls).toEqual([]);
  },
);

test.each(['jpg', 'webp'] as const)(
  'a removed %s is gone at every address once nothing of it is remembered',
  async (type) => {
    const { id } = await publish(type);
    const { id: other } = await publish();
    const paths = addressesOf(id, type);
    // The last moment before the removal.
    for (const path of [...paths, `/by/${ownerHash(owner)}`]) await statusOf(path);
    await removeUpload(store, id);
    now += rememberedMs + 1;
    for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, 410]);
    const page = await (await fetch(`${site}/by/${ownerHash(owner)}`)).text();
    expect([page.includes(id), page.includes(other)]).toEqual([false, true]);
  },
);

test.each([0, maxSmallBytes + 1, maxSharedBytes])(
  '1,000 readers of a new upload cost one rendition, one read of the record and one of the picture of %i bytes',
  async (bytes) => {
    const mediaKey = newMediaKey();
    const id = await publishSample(store, Buffer.from('media'), { ...owner, ...size, mediaKey });
    const making = Promise.withResolvers<RenditionReply>();
    let made = 0;
    make = () => {
      made += 1;
      return making.promise;
    };
    const readers = Array.from({ length: 1000 }, async () => (await fetch(`${site}/${id}/large.jpg`)).text());
    await expect.poll(() => made).toBe(1);
    await putPictures(mediaKey, 'jpg', bytes);
    making.resolve({ outcome: 'made' });
    expect(new Set(await Promise.all(readers))).toEqual(new Set(['large as jpg'.padEnd(bytes, '.')]));
    expect(made).toBe(1);
    expect(calls.filter((call) => call.startsWith('read'))).toEqual(['read records', 'read renditions']);
  },
);

/** A length whose bytes are sent at once, one whose bytes are shared in pieces, and one that is streamed from the store. */
const lengths = [0, maxSmallBytes + 1, maxSharedBytes + 1];

describe.each(lengths)('renditions of %i bytes that were found, not read,', (bytes) => {
  let upload: { readonly id: string; readonly mediaKey: string };
  let paths: readonly string[];
  const recipes = [...picturesOf('mp4'), videoRecipe];
  const replaceAll = async (text: string, length = bytes) => {
    for (const recipe of recipes) {
      const body = Readable.from([`${text} ${recipe.name}`.padEnd(length, '.')]);
      await store.put(renditionKey(upload.mediaKey, recipe), body, { isReplacement: true });
    }
  };
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${site}${path}`, init);
    return { status: response.status, text: (await response.text()).replace(/\.+$/, '') };
  };

  beforeEach(async () => {
    const mediaKey = newMediaKey();
    const id = await publishSample(store, Buffer.from('media'), { ...owner, ...size, mediaKey, type: 'mp4' });
    upload = { id, mediaKey };
    await replaceAll('first');
    paths = [...addressesOf(id, 'mp4'), `/${id}.jpg`, `/${id}/player`, `/by/${ownerHash(owner)}`];
    for (const path of paths) expect([path, (await read(path, { method: 'HEAD' })).status]).toEqual([path, 200]);
  });

  test('and are replaced: every reader gets the new ones', async () => {
    await replaceAll('another', bytes + 100);
    for (const path of paths) expect([path, (await read(path)).status]).toEqual([path, 200]);
    expect((await read(`/${upload.id}.jpg`)).text).toBe('another full');
    expect((await read(`/${upload.id}.mp4`)).text).toBe('another film');
  });

  test('and are replaced: a range of the video is that of the new one', async () => {
    await replaceAll('another', bytes + 100);
    const part = await read(`/${upload.id}/video.mp4`, { headers: { Range: 'bytes=8-' } });
    expect(part).toEqual({ status: 206, text: 'film' });
  });

  test('and are deleted: every reader waits until they are made again', async () => {
    for (const recipe of recipes) await store.remove(renditionKey(upload.mediaKey, recipe));
    make = async () => {
      await replaceAll('another');
      return { outcome: 'made' };
    };
    for (const path of paths) expect([path, (await read(path)).status]).toEqual([path, 200]);
  });

  test('and are replaced: a crowd of readers shares the second look', async () => {
    await replaceAll('another', bytes + 100);
    calls = [];
    const readers = Array.from({ length: 200 }, () => read(`/${upload.id}/large.jpg`));
    expect(new Set((await Promise.all(readers)).map(({ text }) => text))).toEqual(new Set(['another large']));
    const looks = calls.filter((call) => call !== 'read renditions');
    expect(looks.sort()).toEqual(['read records', 'stat renditions']);
  });
});

test('a picture that is not made yet is looked for again', async () => {
  const mediaKey = newMediaKey();
  const id = await publishSample(store, Buffer.from('media'), { ...owner, ...size, mediaKey });
  make = async () => ({ outcome: 'unsupported', why: 'too_costly' });
  expect(await statusOf(`/${id}/large.jpg`)).toBe(404);
  await putPictures(mediaKey);
  expect(await statusOf(`/${id}/large.jpg`)).toBe(200);
});

test('a new upload is found at once, although its address was requested before', async () => {
  const id = 'Ab3dE6gH9j';
  expect(await statusOf(`/${id}`)).toBe(404);
  const mediaKey = newMediaKey();
  await putPictures(mediaKey);
  await publishSample(store, Buffer.from('media'), { ...owner, ...size, mediaKey, id });
  expect(await statusOf(`/${id}`)).toBe(200);
});

test('an empty cursor is not the first page of a list, even while that is remembered', async () => {
  await publish();
  const list = `/by/${ownerHash(owner)}`;
  expect(await statusOf(`${list}?after=`)).toBe(404);
  expect(await statusOf(list)).toBe(200);
  expect(await statusOf(`${list}?after=`)).toBe(404);
});

test('while the store is down, what is remembered is served until its time is over; the error is not remembered', async () => {
  const { id } = await publish();
  const paths = [`/${id}`, `/${id}/large.jpg`];
  const statuses = () => Promise.all(paths.map(statusOf));
  expect(await statuses()).toEqual([200, 200]);
  isDown = true;
  expect(await statuses()).toEqual([200, 200]);
  now += rememberedMs + 1;
  expect(await statuses()).toEqual([503, 503]);
  isDown = false;
  expect(await statuses()).toEqual([200, 200]);
});

test('a proxy may cache complete pages and small pictures, and nothing else', async () => {
  const { id, mediaKey } = await publish();
  const { id: removed } = await publish();
  const pending = await publishSample(store, Buffer.from('media'), { ...size, type: 'mp4', timestamp: new Date() });
  make = () => Promise.reject(new QueueUnavailable('timed out waiting for reply'));
  await store.put(renditionKey(mediaKey, fullRecipe('jpg')), Readable.from([Buffer.alloc(maxSmallBytes + 1)]));
  await removeUpload(store, removed);
  const secondsOf = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${site}${path}`, { headers, redirect: 'manual' });
    await response.arrayBuffer();
    return [response.status, response.headers.get('x-accel-expires')];
  };
  const page = await fetch(`${site}/${id}`);
  const etag = page.headers.get('etag') ?? '';
  expect(await secondsOf(`/${id}`)).toEqual([200, String(proxySeconds)]);
  expect(await secondsOf(`/by/${ownerHash(owner)}`)).toEqual([200, String(proxySeconds)]);
  expect(await secondsOf(`/${id}/large.jpg`)).toEqual([200, String(proxySeconds)]);
  expect(await secondsOf(`/${id}`, { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' })).toEqual([304, null]);
  expect(await secondsOf(`/${id}/large.jpg`, { 'If-None-Match': '*' })).toEqual([304, null]);
  expect(await secondsOf(`/${id}/large.jpg`, { Range: 'bytes=0-1' })).toEqual([206, null]);
  expect(await secondsOf(`/${id}/large.jpg`, { Range: 'bytes=99-' })).toEqual([416, null]);
  expect(await secondsOf(`/${id}.jpg`)).toEqual([200, null]);
  expect(await secondsOf(`/${id}.jpeg`)).toEqual([302, null]);
  expect(await secondsOf(`/${removed}`)).toEqual([410, null]);
  expect(await secondsOf('/AAAAAAAAAA')).toEqual([404, null]);
  expect(await secondsOf(`/${pending}?wait=0`)).toEqual([200, null]);
  expect(await secondsOf(`/${pending}/video.mp4`)).toEqual([503, null]);
  expect(await secondsOf('/')).toEqual([200, null]);
});
