import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionReply } from '@echodrop/contracts/rendition';
import { pictureRecipes, videoRecipe } from '@echodrop/media/recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { renditionKey } from '@echodrop/object-store/object-keys';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { publishSample } from '../publish-sample.fixture.ts';
import { findMedia, type PublishedMedia } from './find-media.ts';
import { findRendition } from './find-rendition.ts';

const { signal } = new AbortController();
const { large, mini } = pictureRecipes;
const unsupported = { outcome: 'unsupported', why: 'too_costly' } as const;

let parts: AsyncDisposableStack;
let store: FilesystemObjectStore;
let record: PublishedMedia;
let told: string[];
const events = {
  renditionAwaited: ({ outcome }: { outcome: string }) => told.push(outcome),
  mediaMissing() {},
  answered() {},
  publicSiteUnencrypted() {},
  recordUnreadable() {},
  requestFailed() {},
};

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  store = parts.use(new FilesystemObjectStore(path));
  told = [];
  const found = await findMedia({ store, events }, await publishSample(store, Buffer.from('media')), signal);
  record = typeof found === 'string' ? expect.fail(found) : found;
});
afterEach(() => parts.disposeAsync());

/** Looks for the large picture, with a worker that stores what is told and then answers. */
function look(stored: readonly (typeof large | typeof mini)[], answer: RenditionReply | Error) {
  const make = async () => {
    for (const recipe of stored) await store.put(renditionKey(record.mediaKey, recipe), Readable.from(['picture']));
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return findRendition(record, large, { store, renditions: { make }, events }, signal);
}

test('what is made while a reader waits is found', async () => {
  expect(await look([large], { outcome: 'made' })).toMatchObject({ state: 'ready', object: { size: 7 } });
  expect(await look([], new Error('not asked again'))).toMatchObject({ state: 'ready' });
  expect(told).toEqual(['made']);
});

test('a missing rendition is requested for the owner of the media', async () => {
  const asked: unknown[] = [];
  const make = async (question: unknown) => {
    asked.push(question);
    return unsupported;
  };
  await findRendition(record, large, { store, renditions: { make }, events }, signal);
  const { mediaKey, type } = record;
  expect(asked).toEqual([{ mediaKey, type, set: 'pictures', owner: ownerHash(record) }]);
});

test('of a set of which one cannot be made, the others are found', async () => {
  expect(await look([mini], unsupported)).toEqual({ state: 'unsupported' });
  expect(await look([large], unsupported)).toMatchObject({ state: 'ready' });
});

test('what is made and gone again, and what nobody can be asked for, is not ready', async () => {
  expect(await look([], { outcome: 'made' })).toEqual({ state: 'not_ready' });
  expect(await look([], new QueueUnavailable('down'))).toEqual({ state: 'not_ready' });
  await expect(look([], new Error('something else'))).rejects.toThrow('something else');
});

test('a photo has no video, and nobody is asked for one', async () => {
  const make = () => expect.fail('asked');
  expect(await findRendition(record, videoRecipe, { store, renditions: { make }, events }, signal)).toEqual({
    state: 'unsupported',
  });
});
