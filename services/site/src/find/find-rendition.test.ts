import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionReply } from '@echodrop/contracts/rendition';
import { pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { renditionKey } from '@echodrop/object-store/object-keys';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { publishSample } from '../site.fixture.ts';
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

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  const { path } = resources.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  store = resources.use(new FilesystemObjectStore(path));
  outcomes = [];
  const found = await findMedia(
    { store, memory: new ReadMemory(), events },
    await publishSample(store, Buffer.from('media')),
    signal,
  );
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
  return findRendition(record, large, { store, memory: new ReadMemory(), renditions: { make }, events }, signal);
}

test('finds a rendition that is made while a reader waits', async () => {
  expect(await find([large], { outcome: 'made' })).toMatchObject({ state: 'ready', object: { size: 7 } });
  expect(await find([], new Error('no second request'))).toMatchObject({ state: 'ready' });
  expect(outcomes).toEqual(['created']);
});

test('requests a missing rendition with the owner and the size of the media', async () => {
  const requests: unknown[] = [];
  const make = async (request: unknown) => {
    requests.push(request);
    return unsupported;
  };
  await findRendition(record, large, { store, memory: new ReadMemory(), renditions: { make }, events }, signal);
  const { mediaKey, type, width, height, size: bytes } = record;
  const pixels = width * height;
  expect(requests).toEqual([{ mediaKey, type, set: 'pictures', pixels, bytes, owner: ownerHash(record) }]);
});

test('finds the other renditions of a set with an unsupported one', async () => {
  expect(await find([mini], unsupported)).toEqual({ state: 'unsupported' });
  expect(await find([large], unsupported)).toMatchObject({ state: 'ready' });
});

test('a rendition that was deleted, or cannot be requested, is not ready', async () => {
  expect(await find([], { outcome: 'made' })).toEqual({ state: 'not_ready' });
  expect(await find([], new QueueUnavailable('down'))).toEqual({ state: 'not_ready' });
  await expect(find([], new Error('something else'))).rejects.toThrow('something else');
});

test('a GIF counts as animated before its renditions are ready', async () => {
  const make = () => Promise.reject(new QueueUnavailable('down'));
  const view = await findView(
    { ...record, type: 'gif' },
    { store, memory: new ReadMemory(), renditions: { make, videoProgress: async () => undefined }, events },
    signal,
  );
  expect(view).toEqual({ picture: 'not_ready', isAnimated: true });
});

test('requests no video of a photo', async () => {
  const make = () => expect.fail('requested');
  expect(
    await findRendition(record, videoRecipe, { store, memory: new ReadMemory(), renditions: { make }, events }, signal),
  ).toEqual({
    state: 'unsupported',
  });
});
