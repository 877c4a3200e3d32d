import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import { findRecord } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import type { RenditionReply } from '@echodrop/contracts/rendition';
import { pictureRecipes } from '@echodrop/media/recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { isTombstone, type StoredRecord } from '@echodrop/record';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { siteApp } from './app.ts';
import { createSiteEvents } from './events.ts';
import { publishSample } from './publish-sample.fixture.ts';

let parts: AsyncDisposableStack;
let store: FilesystemObjectStore;
/** Happens between the look at a rendition and its reading. */
let between: (key: string) => Promise<void>;
/** Happens when a rendition is asked for. */
let make: () => Promise<RenditionReply>;
let site: string;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  make = () => Promise.reject(new Error('nobody asks'));
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  store = parts.use(new FilesystemObjectStore(path));
  const read = async (...[key, options]: Parameters<ObjectStore['read']>) => {
    if (key.startsWith('renditions/')) await between(key);
    return store.read(key, options);
  };
  const watched: ObjectStore = new Proxy(store, {
    get: (target, name) => (name === 'read' ? read : Reflect.get(target, name).bind(target)),
  });
  const app = siteApp({
    ...{ store: watched, events: createSiteEvents(createLog('site', 'silent'), new Metrics('site')) },
    renditions: { make: () => make() },
    ...{ publicSite: 'https://pics.example', name: 'Pictures', robots: 'noindex', hasOembedDiscovery: false },
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  parts.defer(() => void server.close());
  await new Promise((listening) => server.once('listening', listening));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => parts.disposeAsync());

async function published(details: Partial<StoredRecord> = {}): Promise<string> {
  const mediaKey = newMediaKey();
  for (const recipe of [pictureRecipes.large, pictureRecipes.thumb]) {
    await store.put(renditionKey(mediaKey, recipe), Readable.from(['a picture']));
  }
  return publishSample(store, Buffer.from('media'), { ...details, mediaKey });
}

async function takeDown(id: string): Promise<void> {
  const record = await findRecord(store, id);
  if (record && !isTombstone(record)) await removeMedia(store, record, { by: 'owner', at: new Date() });
}

test('what is taken down between a look at it and its reading is gone', async () => {
  const id = await published();
  between = () => takeDown(id);
  const answer = await fetch(`${site}/${id}/large.jpg`);
  expect(answer.status).toBe(410);
  expect(answer.headers.get('cache-control')).toBe('no-cache');
});

test('a rendition that is deleted then is made anew: it is not ready', async () => {
  const id = await published();
  between = (key) => store.remove(key);
  const answer = await fetch(`${site}/${id}/large.jpg`);
  expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
});

const addresses: (readonly [string, (id: string) => string])[] = [
  ['its picture', (id) => `/${id}/large.jpg`],
  ['its direct address', (id) => `/${id}.mp4`],
  ['its page', (id) => `/${id}`],
  ['its player', (id) => `/${id}/player`],
  ['oEmbed', (id) => `/oembed?url=https://pics.example/${id}`],
];

test.each(addresses)('what is taken down while a reader waits for it is gone: %s', async (_, address) => {
  const id = await publishSample(store, Buffer.from('media'), { type: 'mp4' });
  make = async () => {
    await takeDown(id);
    throw new QueueUnavailable('the media was removed');
  };
  expect((await fetch(`${site}${address(id)}`)).status).toBe(410);
});

test('nor is it on the page of its user, which shows the others', async () => {
  const owner = { provider: 'https://id.example/verify', subject: 'ada' };
  const [kept, removed] = [await published(owner), await publishSample(store, Buffer.from('media'), owner)];
  make = async () => {
    await takeDown(removed);
    throw new QueueUnavailable('the media was removed');
  };
  const page = await (await fetch(`${site}/by/${ownerHash(owner)}`)).text();
  expect([page.includes(kept), page.includes(removed)]).toEqual([true, false]);
});
