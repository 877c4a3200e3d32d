import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionReply } from '@echodrop/contracts/rendition';
import { pictureRecipes } from '@echodrop/media/rendition-recipes';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import type { StoredRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveSite } from './app.fixture.ts';
import { newStore, publishSample, removeUpload } from './site.fixture.ts';

let resources: AsyncDisposableStack;
let store: FilesystemObjectStore;
/** Runs between finding and reading a rendition. */
let between: (key: string) => Promise<void>;
/** Runs when a rendition is requested. */
let make: () => Promise<RenditionReply>;
let site: string;

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  make = () => Promise.reject(new Error('unexpected request'));
  store = await newStore(resources);
  const read = async (...[key, options]: Parameters<ObjectStore['read']>) => {
    if (key.startsWith('renditions/')) await between(key);
    return store.read(key, options);
  };
  const watched: ObjectStore = new Proxy(store, {
    get: (target, name) => (name === 'read' ? read : Reflect.get(target, name).bind(target)),
  });
  site = await serveSite(resources, { store: watched, make: () => make() });
});
afterEach(() => resources.disposeAsync());

async function publish(details: Partial<StoredRecord> = {}): Promise<string> {
  const mediaKey = newMediaKey();
  for (const recipe of [pictureRecipes.large, pictureRecipes.thumb]) {
    await store.put(renditionKey(mediaKey, recipe), Readable.from(['a picture']));
  }
  return publishSample(store, Buffer.from('media'), { ...details, mediaKey });
}

test('an upload that is removed before its rendition is read is gone', async () => {
  const id = await publish();
  between = () => removeUpload(store, id);
  const response = await fetch(`${site}/${id}/large.jpg`);
  expect(response.status).toBe(410);
  expect(response.headers.get('cache-control')).toBe('no-cache');
});

async function replace(key: string, text: string): Promise<void> {
  await store.put(key, Readable.from([text]), { isReplacement: true });
}

test('a rendition that is replaced again and again is not ready', async () => {
  const id = await publish();
  let replaced = 0;
  between = (key) => {
    replaced += 1;
    return replace(key, '.'.repeat(replaced));
  };
  const response = await fetch(`${site}/${id}/large.jpg`);
  expect([response.status, response.headers.has('retry-after'), replaced]).toEqual([503, true, 2]);
});

test('the page of a user omits an upload that is removed meanwhile', async () => {
  const owner = { provider: 'https://id.example/verify', subject: 'ada' };
  const kept = await publish(owner);
  const removed = await publishSample(store, Buffer.from('media'), owner);
  make = async () => {
    await removeUpload(store, removed);
    throw new QueueUnavailable('the media was removed');
  };
  const page = await (await fetch(`${site}/by/${ownerHash(owner)}`)).text();
  expect([page.includes(kept), page.includes(removed)]).toEqual([true, false]);
});
