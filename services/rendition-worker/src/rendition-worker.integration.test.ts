import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { detectMediaType, type MediaType } from '@echodrop/media/detect-media-type';
import { picturesOf, type Recipe, type RenditionSet, recipesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { queueSecrets, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
let stack: Stack;
let scratch: string;
let client: RenditionClient;
let store: FilesystemObjectStore;

beforeAll(async () => {
  const newFolder = async () => parts.use(await mkdtempDisposable(join(tmpdir(), 'rendition-worker-test-'))).path;
  scratch = await newFolder();
  const settings = { OBJECT_STORE_DIR: await newFolder(), SCRATCH_DIR: scratch };
  stack = parts.use(
    await startStack({
      services: ['rendition-worker'],
      settings: { ...settings, LOG_LEVEL: 'info' },
    }),
  );
  const { redis } = stack;
  client = parts.use(new RenditionClient(queueOptionsFor(redis.url, queueSecrets.RENDITION_QUEUE_SECRET)));
  await waitUntil('a connection', async () => (await client.backlogs()).size === 3);
  store = parts.use(new FilesystemObjectStore(settings.OBJECT_STORE_DIR));
});
afterAll(() => parts.disposeAsync());

async function upload(bytes: Buffer): Promise<string> {
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([bytes]));
  return mediaKey;
}

function make(mediaKey: string, type: MediaType, set: RenditionSet, pixels?: number) {
  const request = { mediaKey, type, set, ...(pixels && { pixels }) };
  return client.make(request, { waitMs: patienceMs, signal: patientSignal() });
}

async function bytesOf(mediaKey: string, recipe: Recipe): Promise<Buffer | undefined> {
  const reading = await store.read(renditionKey(mediaKey, recipe));
  return reading && buffer(reading.body);
}

async function typesOf(mediaKey: string, recipes: readonly Recipe[]): Promise<(MediaType | undefined)[]> {
  const found = await Promise.all(recipes.map((recipe) => bytesOf(mediaKey, recipe)));
  return found.map((bytes) => bytes && detectMediaType(bytes));
}

function samplePng(): Promise<Buffer> {
  return samplePhoto('png', { width: 320, height: 240 });
}

// In the order of the recipes, except for the whole picture.
const pictureTypes = ['jpg', 'jpg', 'jpg', 'jpg', 'webp', 'jpg', 'webp'];

const notAPhoto = Buffer.from('\xff\xd8\xff but no picture', 'latin1');

test('makes and stores the pictures for pages of a photo, and the whole one on request', async () => {
  const mediaKey = await upload(await samplePng());
  expect(await make(mediaKey, 'png', 'pictures')).toEqual({ outcome: 'made' });
  expect(await typesOf(mediaKey, picturesOf('png'))).toEqual([...pictureTypes, undefined]);
  expect(await make(mediaKey, 'png', 'whole')).toEqual({ outcome: 'made' });
  expect(await typesOf(mediaKey, picturesOf('png'))).toEqual([...pictureTypes, 'png']);
});

test('makes a video for browsers, and its pictures', async () => {
  const mediaKey = await upload(await sampleVideo('avi', { width: 320, height: 240 }));
  const made = (['film', 'whole'] as const).map((set) => make(mediaKey, 'avi', set));
  expect(await Promise.all(made)).toEqual(made.map(() => ({ outcome: 'made' })));
  expect(await typesOf(mediaKey, [videoRecipe])).toEqual(['mp4']);
  expect(await typesOf(mediaKey, picturesOf('avi'))).toEqual([...pictureTypes, 'jpg']);
});

test('counts media without any picture or without its video, but none that is shown', async () => {
  const count = async (missing: 'picture' | 'video') => {
    const metrics = await stack.metrics('rendition-worker');
    const series = new RegExp(
      `^echodrop_media_not_shown_total\\{.*missing="${missing}",outcome="unsupported".*\\} (\\d+)$`,
      'm',
    );
    return Number(series.exec(metrics)?.[1]);
  };
  const pictures = await count('picture');
  const videos = await count('video');
  const cut = (await sampleVideo('avi', { width: 320, height: 240 })).subarray(0, 6000);
  await make(await upload(notAPhoto), 'jpg', 'pictures');
  await make(await upload(notAPhoto), 'jpg', 'whole');
  await make(await upload(await samplePng()), 'png', 'pictures');
  expect([await count('picture'), await count('video')]).toEqual([pictures + 1, videos]);
  await make(await upload(cut), 'avi', 'film');
  expect([await count('picture'), await count('video')]).toEqual([pictures + 2, videos + 1]);
  const partly = await upload(notAPhoto);
  const [, ...others] = recipesOf('pictures', { type: 'jpg' });
  for (const recipe of others) await store.put(renditionKey(partly, recipe), Readable.from(['before']));
  expect(await make(partly, 'jpg', 'pictures')).toMatchObject({ outcome: 'unsupported' });
  const withoutWhole = await upload(notAPhoto);
  for (const recipe of recipesOf('pictures', { type: 'jpg' }))
    await store.put(renditionKey(withoutWhole, recipe), Readable.from(['before']));
  expect(await make(withoutWhole, 'jpg', 'pictures', 320 * 240)).toMatchObject({ outcome: 'unsupported' });
  expect(await count('picture')).toBe(pictures + 2);
});

test('retries after a breakdown', async () => {
  const mediaKey = newMediaKey();
  await expect(make(mediaKey, 'png', 'pictures')).rejects.toThrow('job did not complete');
  await store.put(mediaObjectKey(mediaKey), Readable.from([await samplePng()]));
  await expect
    .poll(() => make(mediaKey, 'png', 'pictures').catch(() => 'not yet'), { interval: 500 })
    .toEqual({ outcome: 'made' });
});

test('reports media that was removed before its job ended, without a failure', async () => {
  const mediaKey = newMediaKey();
  await expect(make(mediaKey, 'png', 'pictures')).rejects.toThrow('job did not complete');
  const logged = () =>
    stack.services['rendition-worker'].output
      .split('\n')
      .filter((line) => line.includes(mediaKey))
      .map((line) => JSON.parse(line));
  await expect
    .poll(logged)
    .toMatchObject([{ level: 'info', mediaKey, outcome: 'removed', msg: 'Media deleted before rendering' }]);
  const metrics = await stack.metrics('rendition-worker');
  expect(metrics).toMatch(/^echodrop_rendition_job_seconds_count\{.*outcome="removed".*\} [1-9]/m);
});

test('leaves nothing in the scratch folder', async () => {
  const video = await upload(await sampleVideo('mp4', { width: 320, height: 240 }));
  const broken = await upload(notAPhoto);
  await Promise.all([make(video, 'mp4', 'film'), make(broken, 'jpg', 'pictures')]);
  const [own = '', ...others] = await readdir(scratch);
  expect(others).toEqual([]);
  await expect.poll(() => readdir(join(scratch, own))).toEqual([]);
});
