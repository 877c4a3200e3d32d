import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fullRecipe, pictureRecipes } from '@echodrop/media/recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem-object-store';
import { mediaObject, newMediaKey, renditionsOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { samplePhoto } from '@echodrop/testkit/sample-media';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { render } from './render.ts';

const parts = new AsyncDisposableStack();
const { signal } = new AbortController();
const events = { toolsExamined() {}, rendered() {}, jobEnded() {} };
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

/** Renders while somebody takes the media down just before the picture named `last` is stored; tells what is left of it. */
async function leftWhenRemovedBefore(last: string): Promise<string[]> {
  const mediaKey = newMediaKey();
  await store.put(mediaObject(mediaKey), Readable.from([photo]));
  const removing = async (...[key, source, options]: Parameters<ObjectStore['put']>) => {
    if (key.includes(`/${last}-`)) await takeDown(mediaKey);
    return store.put(key, source, options);
  };
  const removed: ObjectStore = new Proxy(store, {
    get: (target, name) => (name === 'put' ? removing : Reflect.get(target, name).bind(target)),
  });
  const rendering = { store: removed, scratchDir, maxPixels: 1_000_000, typesOff: new Set<never>(), events };
  await expect(render({ mediaKey, type: 'jpg', set: 'pictures' }, signal, rendering)).rejects.toThrow('was removed');
  return keysOf(mediaKey);
}

async function takeDown(mediaKey: string): Promise<void> {
  await store.remove(mediaObject(mediaKey));
  for (const key of await keysOf(mediaKey)) await store.remove(key);
}

async function keysOf(mediaKey: string): Promise<string[]> {
  return (await store.list(renditionsOf(mediaKey), { limit: 100 })).map(({ key }) => key);
}

test.each([pictureRecipes.mini.name, fullRecipe('jpg').name])(
  'of media that is taken down before its %s is stored, no rendition stays',
  async (name) => {
    expect(await leftWhenRemovedBefore(name)).toEqual([]);
  },
);
