import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionClient, RenditionReply } from '@echodrop/contracts/rendition';
import { pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { renditionKey } from '@echodrop/object-store/object-keys';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newStore, publishSample } from '../site.fixture.ts';
import { findMedia, type PublishedMedia } from './find-media.ts';
import { findRendition } from './find-rendition.ts';
import { findView } from './find-view.ts';
import { ReadMemory } from './read-memory.ts';

const { signal } = new AbortController();
const { large, mini } = pictureRecipes;
const unsupported = { outcome: 'unsupported', why: 'too_costly' } as const;

let resources: AsyncDisposableStack;
let store: FilesystemObjectStore;
let record: PublishedMedia;
let outcomes: string[];
const events = {
  renditionAwaited: ({ outcome }: { outcome: string }) => outcomes.push(outcome),
  mediaMissing() {},
  requestCompleted() {},
  publicSiteUnencrypted() {},
  recordUnreadable() {},
  requestFailed() {},
};

const queueIsDown = () => Promise.reject(new QueueUnavailable('down'));
const sources = (make: RenditionClient['make'] = queueIsDown) => ({
  store,
  memory: new ReadMemory(),
  events,
  signal,
  onWait() {},
  renditions: { make },
  videoProgress: async () => undefined,
});

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  store = await newStore(resources);
  outcomes = [];
  const found = await findMedia(sources(), await publishSample(store, Buffer.from('media')));
  record = typeof found === 'string' ? expect.fail(found) : found;
});
afterEach(() => resources.disposeAsync());

/** Finds the large picture, with a worker that stores `stored` and then replies. */
function find(stored: readonly (typeof large | typeof mini)[], reply: RenditionReply | Error) {
  const make = async () => {
    for (const recipe of stored) await store.put(renditionKey(record.mediaKey, recipe), Readable.from(['picture']));
    if (reply instanceof Error) throw reply;
    return reply;
  };
  return findRendition(record, large, sources(make));
}

test('finds a rendition that is made while a reader waits', async () => {
  expect(await find([large], { outcome: 'made' })).toMatchObject({ size: 7 });
  expect(await find([], new Error('no second request'))).toMatchObject({ size: 7 });
  expect(outcomes).toEqual(['created']);
});

test('requests a missing rendition with the owner and the size of the media', async () => {
  const requests: unknown[] = [];
  const make = async (request: unknown) => {
    requests.push(request);
    return unsupported;
  };
  await findRendition(record, large, sources(make));
  const { mediaKey, type, width, height, size: bytes } = record;
  const pixels = width * height;
  expect(requests).toEqual([{ mediaKey, type, set: 'pictures', pixels, bytes, owner: ownerHash(record) }]);
});

test('finds the other renditions of a set with an unsupported one', async () => {
  expect(await find([mini], unsupported)).toBe('unsupported');
  expect(await find([large], unsupported)).toMatchObject({ size: 7 });
});

test('a rendition that was deleted, or cannot be requested, is not ready', async () => {
  expect(await find([], { outcome: 'made' })).toBe('not_ready');
  expect(await find([], new QueueUnavailable('down'))).toBe('not_ready');
  await expect(find([], new Error('something else'))).rejects.toThrow('something else');
});

test('a GIF counts as animated before its renditions are ready', async () => {
  const id = await publishSample(store, Buffer.from('media'), { type: 'gif' });
  expect(await findView(id, sources())).toMatchObject({ view: { picture: 'not_ready', isAnimated: true } });
});

test('requests no video of a photo', async () => {
  const make = () => expect.fail('requested');
  expect(await findRendition(record, videoRecipe, sources(make))).toBe('unsupported');
});
