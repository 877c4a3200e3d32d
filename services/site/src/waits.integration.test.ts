import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionReply } from '@echodrop/contracts/rendition';
import { contentTypeOf } from '@echodrop/media/detect-media-type';
import { fullRecipe, pictureRecipes } from '@echodrop/media/rendition-recipes';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveSite } from './app.fixture.ts';
import { giveUpMs } from './readers.fixture.ts';
import { newStore, publishSample } from './site.fixture.ts';

let resources: AsyncDisposableStack;
let store: FilesystemObjectStore;
let site: string;
/** How long the site would wait for each rendition. */
let waits: number[];
let make: () => Promise<RenditionReply>;
let progress: number | undefined;

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  waits = [];
  progress = undefined;
  make = () => Promise.reject(new QueueUnavailable('timed out waiting for reply'));
  store = await newStore(resources);
  site = await serveSite(resources, {
    store,
    make: (_request, { waitMs = Number.POSITIVE_INFINITY }) => {
      waits.push(waitMs);
      return make();
    },
    videoProgress: async () => progress,
  });
});
afterEach(() => resources.disposeAsync());

const owner = { provider: 'https://id.example/verify', subject: 'ada' };

test.each([
  ['a page', 4000, (id: string) => `/${id}`],
  ['the address of a rendition', 4000, (id: string) => `/${id}/large.jpg`],
  ['oEmbed', 4000, (id: string) => `/oembed?url=https://pics.example/${id}`],
  ['the page of a user', 1000, () => `/by/${ownerHash(owner)}`],
  ['a page that the upload page reads', 0, (id: string) => `/${id}?wait=0`],
])('%s waits at most %i ms for a picture, which is less than readers do', async (_, waitMs, address) => {
  const id = await publishSample(store, Buffer.from('media'), owner);
  await fetch(`${site}${address(id)}`);
  expect(waits).toEqual([waitMs]);
  expect(waitMs).toBeLessThan(giveUpMs);
});

test.each(['jpg', 'png'] as const)(
  'the direct link of a %s sends the large picture, to be kept for seconds, until the whole one is ready',
  async (type) => {
    const mediaKey = newMediaKey();
    await store.put(renditionKey(mediaKey, pictureRecipes.large), Readable.from(['a large picture']));
    const id = await publishSample(store, Buffer.from('media'), { mediaKey, type, width: 4000, height: 3000 });
    const view = async (tag = '') => {
      const response = await fetch(`${site}/${id}.${type}`, { headers: { 'If-None-Match': tag } });
      const shown = ['content-type', 'content-disposition', 'cache-control'].map((name) => response.headers.get(name));
      return { shown: [response.status, await response.text(), ...shown], etag: response.headers.get('etag') ?? '' };
    };
    const first = await view();
    const brief = ['image/jpeg', `inline; filename="${id}.jpg"`, 'public, max-age=5'];
    expect(first.shown).toEqual([200, 'a large picture', ...brief]);
    expect(waits).toEqual([1000]);
    expect((await view(first.etag)).shown).toEqual([304, '', null, null, 'public, max-age=5']);
    make = () => Promise.resolve({ outcome: 'unsupported', why: 'too_costly' });
    expect((await view()).shown).toEqual(first.shown);
    await store.put(renditionKey(mediaKey, fullRecipe(type)), Readable.from(['the whole picture']));
    const whole = await view(first.etag);
    const lasting = [contentTypeOf(type), `inline; filename="${id}.${type}"`, 'public, max-age=86400'];
    expect(whole.shown).toEqual([200, 'the whole picture', ...lasting]);
    expect(whole.etag).not.toBe(first.etag);
  },
);

test('the direct link waits for the large picture if there is no other yet', async () => {
  const id = await publishSample(store, Buffer.from('media'), owner);
  expect((await fetch(`${site}/${id}.jpg`)).status).toBe(503);
  expect(waits).toEqual([1000, 3000]);
  expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThan(giveUpMs);
});

test('the address of a video waits at most a second for it, because it takes minutes', async () => {
  const id = await publishSample(store, Buffer.from('media'), { type: 'mp4' });
  await fetch(`${site}/${id}/video.mp4`);
  expect(waits).toEqual([1000]);
});

test('the pages of a video that is transcoded say how much is done, and reload', async () => {
  const mediaKey = newMediaKey();
  const id = await publishSample(store, Buffer.from('media'), { mediaKey, type: 'avi' });
  const pages = () =>
    Promise.all(
      ['', '/player'].map(async (path) => {
        const response = await fetch(`${site}/${id}${path}`);
        // Sample records are old.
        expect(response.headers.get('refresh')).toBe('30');
        return response.text();
      }),
    );
  for (const page of await pages()) {
    expect(page).toContain('This video is still being processed. It will appear here automatically.');
    expect(page).not.toContain('<progress');
  }
  progress = 0.427;
  for (const page of await pages()) {
    expect(page).toMatch(
      /still being processed: 42 % done\. <progress max="100" value="42" .*It will appear here automatically\./,
    );
  }
});
