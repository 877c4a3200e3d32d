import { Readable } from 'node:stream';
import {
  type Lane,
  RenditionClient,
  type RenditionReply,
  type RenditionRequest,
  startRenditionWorkers,
} from '@echodrop/contracts/rendition';
import { picturesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { Deferred } from '@echodrop/queue/slow-lane';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newStore } from '../site.fixture.ts';
import { SharedRenditions } from './shared-renditions.ts';

const { signal } = new AbortController();
const wait = { waitMs: patienceMs, signal };
const made: RenditionReply = { outcome: 'made' };

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let store: FilesystemObjectStore;
let client: RenditionClient;
let renditions: SharedRenditions;
let media: Omit<RenditionRequest, 'set'>;
/** The sets that workers began, each with its lane. */
let begun: string[];
/** What a worker does with a job. */
let handle: (request: RenditionRequest, lane: Lane) => Promise<RenditionReply>;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());
beforeEach(async () => {
  await redis.command('FLUSHALL');
  parts = new AsyncDisposableStack();
  store = await newStore(parts);
  client = parts.use(new RenditionClient(queueOptionsFor(redis.url)));
  await waitUntil('a connection', () => client.videoProgress({ mediaKey: 'none', type: 'mp4' }).then(() => true));
  renditions = new SharedRenditions(client, store);
  media = { mediaKey: newMediaKey(), type: 'mp4', pixels: 640 * 480 };
  begun = [];
});
afterEach(() => parts.disposeAsync());

function startWorkers(): void {
  const concurrency = { pictureConcurrency: 1, videoConcurrency: 1, slowConcurrency: 1 };
  const render = (request: RenditionRequest, _: AbortSignal, lane: Lane) => {
    begun.push(`${request.set} in ${lane}`);
    return handle(request, lane);
  };
  const serving = { ...concurrency, graceSeconds: 0, render, onEnd: () => {} };
  for (const queue of startRenditionWorkers(serving, queueOptionsFor(redis.url))) parts.use(queue);
}

async function storePictures(): Promise<void> {
  for (const recipe of picturesOf('mp4')) await put(renditionKey(media.mediaKey, recipe));
}

async function put(key: string): Promise<void> {
  await store.put(key, Readable.from(['bytes']), { isReplacement: true });
}

const pictures = () => renditions.make({ ...media, set: 'pictures' }, wait);

test.each(['before', 'after'])('a reader who asks %s the gateway causes no second job', async (order) => {
  handle = async () => {
    await storePictures();
    return made;
  };
  const reply = order === 'before' ? pictures() : undefined;
  await client.enqueue(media);
  const replies = [reply ?? pictures(), pictures(), renditions.make({ ...media, set: 'film' }, wait)];
  startWorkers();
  expect(await Promise.all(replies)).toEqual([made, made, made]);
  expect(begun).toEqual(['film in quick']);
});

test('if Redis has lost the job, a reader has pictures and video made', async () => {
  await client.enqueue(media);
  await redis.command('FLUSHALL');
  handle = async () => {
    await storePictures();
    return made;
  };
  startWorkers();
  expect(await pictures()).toEqual(made);
  expect(begun).toEqual(['film in quick']);
});

test('readers of pictures do not wait for the video whose job makes them', async () => {
  const video = Promise.withResolvers<RenditionReply>();
  handle = async () => {
    await storePictures();
    return video.promise;
  };
  startWorkers();
  await client.enqueue(media);
  expect(await pictures()).toEqual(made);
  expect(begun).toEqual(['film in quick']);
  video.resolve(made);
});

test('pictures of a video that waits in the slow lane have a job of their own', async () => {
  const blocking = { ...media, mediaKey: newMediaKey() };
  const other = Promise.withResolvers<RenditionReply>();
  handle = async ({ set, mediaKey }, lane) => {
    if (set === 'film' && lane !== 'slow') throw new Deferred();
    if (mediaKey === blocking.mediaKey) return other.promise;
    await storePictures();
    return made;
  };
  startWorkers();
  await client.enqueue(blocking);
  await expect.poll(() => begun).toEqual(['film in quick', 'film in slow']);
  expect(await pictures()).toEqual(made);
  expect(begun.slice(2)).toEqual(['film in quick', 'pictures in quick']);
  other.resolve(made);
});

test.each<[string, () => Promise<RenditionReply>]>([
  ['cannot be made', async () => ({ outcome: 'unsupported', why: 'codec' })],
  ['failed', () => Promise.reject(new Error('the disk is full'))],
])('pictures of a video that %s have a job of their own if they are missing', async (_, makeVideo) => {
  handle = async ({ set }) => (set === 'film' ? makeVideo() : made);
  startWorkers();
  expect(await pictures()).toEqual(made);
  expect(begun).toEqual(['film in quick', 'pictures in quick']);
});

test('missing pictures of a video that is ready, and those of photos, are requested at once', async () => {
  await put(renditionKey(media.mediaKey, videoRecipe));
  handle = async () => made;
  startWorkers();
  expect(await pictures()).toEqual(made);
  const photo = { ...media, mediaKey: newMediaKey(), type: 'jpg', set: 'pictures' } as const;
  expect(await renditions.make(photo, wait)).toEqual(made);
  expect(begun).toEqual(['pictures in quick', 'pictures in quick']);
});

test('a wait ends when its time is over, and with its reader; the job goes on', async () => {
  await expect(renditions.make({ ...media, set: 'pictures' }, { waitMs: 500, signal })).rejects.toThrow(
    QueueUnavailable,
  );
  const leaving = new AbortController();
  const reply = renditions.make({ ...media, set: 'pictures' }, { waitMs: patienceMs, signal: leaving.signal });
  leaving.abort(new Error('left'));
  await expect(reply).rejects.toThrow();
  handle = async () => made;
  startWorkers();
  await expect.poll(() => begun).toEqual(['film in quick']);
});
