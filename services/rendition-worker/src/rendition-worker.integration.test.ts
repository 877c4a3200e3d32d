import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { type MediaType, mediaTypeOf } from '@echodrop/media/media-type';
import { filmRecipe, pictureRecipes, type Recipe } from '@echodrop/media/recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem-object-store';
import { mediaObject, newMediaKey, renditionObject } from '@echodrop/object-store/object-keys';
import { createLog } from '@echodrop/service/log';
import { Secret } from '@echodrop/service/secret';
import { sampleFilm, samplePhoto } from '@echodrop/testkit/sample-media';
import { startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';

const waitMs = 15_000;

const parts = new AsyncDisposableStack();
let scratch: string;
let client: RenditionClient;
let store: FilesystemObjectStore;

beforeAll(async () => {
  const newFolder = async () => parts.use(await mkdtempDisposable(join(tmpdir(), 'rendition-worker-test-'))).path;
  scratch = await newFolder();
  const settings = { OBJECT_STORE_DIR: await newFolder(), SCRATCH_DIR: scratch };
  const { redis } = parts.use(await startStack({ services: ['rendition-worker'], settings }));
  client = parts.use(new RenditionClient({ url: new Secret(redis.url), log: createLog('test', 'silent') }));
  store = parts.use(new FilesystemObjectStore(settings.OBJECT_STORE_DIR));
});
afterAll(() => parts.disposeAsync());

async function upload(bytes: Buffer): Promise<string> {
  const mediaKey = newMediaKey();
  await store.put(mediaObject(mediaKey), Readable.from([bytes]));
  return mediaKey;
}

function make(mediaKey: string, type: MediaType, recipe: string) {
  return client.make({ mediaKey, type, recipe }, { waitMs, signal: AbortSignal.timeout(waitMs) });
}

async function typeOfRendition(mediaKey: string, recipe: Recipe): Promise<MediaType | undefined> {
  const reading = await store.read(renditionObject(mediaKey, recipe));
  return reading && mediaTypeOf(await buffer(reading.body));
}

test('a picture is made of a photo and put into the store', async () => {
  const mediaKey = await upload(await samplePhoto('png', { width: 320, height: 240 }));
  expect(await make(mediaKey, 'png', 'large')).toEqual({ outcome: 'made' });
  expect(await typeOfRendition(mediaKey, pictureRecipes.large)).toBe('jpg');
});

test('a film becomes one that browsers play, and has a picture', async () => {
  const mediaKey = await upload(await sampleFilm('avi', { width: 320, height: 240 }));
  expect(await Promise.all([make(mediaKey, 'avi', 'film'), make(mediaKey, 'avi', 'large')])).toEqual([
    { outcome: 'made' },
    { outcome: 'made' },
  ]);
  expect(await typeOfRendition(mediaKey, filmRecipe)).toBe('mp4');
  expect(await typeOfRendition(mediaKey, pictureRecipes.large)).toBe('jpg');
});

test('what lies in the store already is not made again', async () => {
  const mediaKey = newMediaKey();
  const { etag } = await store.put(renditionObject(mediaKey, pictureRecipes.large), Readable.from(['made before']));
  expect(await make(mediaKey, 'jpg', 'large')).toEqual({ outcome: 'made' });
  expect(await store.stat(renditionObject(mediaKey, pictureRecipes.large))).toMatchObject({ etag });
});

test('media of which it cannot be made is an answer', async () => {
  const broken = await upload(Buffer.from('\xff\xd8\xff but no picture', 'latin1'));
  expect(await make(broken, 'jpg', 'large')).toEqual({ outcome: 'unsupported' });
  const photo = await upload(await samplePhoto('jpg', { width: 320, height: 240 }));
  expect(await make(photo, 'jpg', 'film')).toEqual({ outcome: 'unsupported' });
});

test('missing media and unknown recipes fail, and the worker goes on', async () => {
  await expect(make(newMediaKey(), 'jpg', 'large')).rejects.toThrow('the queue gave no answer');
  const mediaKey = await upload(await samplePhoto('jpg', { width: 320, height: 240 }));
  await expect(make(mediaKey, 'jpg', 'unheard-of')).rejects.toThrow('the queue gave no answer');
  expect(await make(mediaKey, 'jpg', 'large')).toEqual({ outcome: 'made' });
});

test('nothing is left in the scratch folder', async () => {
  const film = await upload(await sampleFilm('mp4', { width: 320, height: 240 }));
  const broken = await upload(Buffer.from('\xff\xd8\xff but no picture', 'latin1'));
  await Promise.all([make(film, 'mp4', 'film'), make(broken, 'jpg', 'large')]);
  await expect.poll(() => readdir(scratch)).toEqual([]);
});
