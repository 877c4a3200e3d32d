import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { findRecord } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, recordKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { newMediaId } from '@echodrop/record';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ownRecord } from '../publish/commit-record.ts';
import { findOwn, listOwn, type OwnRequest, type OwnUploadDeps, removeOwn } from './own-uploads.ts';

const provider = 'https://id.example/verify';
const removed = { by: 'owner', at: new Date() } as const;

let parts: AsyncDisposableStack;
let store: FilesystemObjectStore;
let audited: string[];
let unread: string[];

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'own-uploads-test-')));
  store = parts.use(new FilesystemObjectStore(folder.path));
  [audited, unread] = [[], []];
});
afterEach(() => parts.disposeAsync());

/** The dependencies of requests by this user. */
function depsFor(subject = '12345', to: ObjectStore = store): OwnUploadDeps {
  const caller = { provider, subject, userId: 1n, screenName: 'ada' };
  return {
    verifier: { knownProviders: async () => [provider], verify: async () => ({ outcome: 'verified', caller }) },
    store: to,
    compatibility: 'strict',
    events: {
      removalStarted: (_, { id }) => void audited.push(id),
      recordUnreadable: (_, id, { message }) => void unread.push(`${id}: ${message}`),
    },
  };
}

const headers = { 'x-auth-service-provider': provider, 'x-verify-credentials-authorization': 'OAuth x' };
const context: OwnRequest = {
  request: { headers },
  requestId: 'r',
  clientAddress: '',
  signal: new AbortController().signal,
  slot: { excuse: () => {}, moveToUser: () => {} },
};

test('an upload that the store does not find at first is removed', async () => {
  const { id } = await publishSample(store, { provider });
  vi.spyOn(store, 'read').mockResolvedValueOnce(undefined);
  await removeOwn(context, id, depsFor());
  expect(await findRecord(store, id)).toHaveProperty('removed');
});

test('an upload that stays listed and missing is no 404, which would mislead its owner', async () => {
  const { id } = await publishSample(store, { provider });
  vi.spyOn(store, 'read').mockResolvedValue(undefined);
  await expect(findOwn(context, id, depsFor())).rejects.toThrow(StoreUnavailable);
});

test('an id without any upload is 404 at once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await expect(removeOwn(context, newMediaId(), depsFor())).rejects.toThrow('not_found');
});

/** A store whose `remove` fails. */
function failing(): ObjectStore {
  return new Proxy(store, {
    get: (target, name) =>
      name === 'remove' ? () => Promise.reject(new Error('down')) : Reflect.get(target, name).bind(target),
  });
}

test('a removal that fails halfway is in the audit log, and a repeat by the owner completes it', async () => {
  const { id, mediaKey } = await publishSample(store, { provider });
  await expect(removeOwn(context, id, depsFor('12345', failing()))).rejects.toThrow('down');
  expect([audited, await store.stat(mediaObjectKey(mediaKey))]).toEqual([[id], expect.anything()]);
  await expect(removeOwn(context, id, depsFor())).rejects.toThrow('not_found');
  expect(await store.stat(mediaObjectKey(mediaKey))).toBeUndefined();
});

test('a repeat by another user gets 404 and completes nothing', async () => {
  const record = await publishSample(store, { provider });
  await expect(removeMedia(failing(), record, removed)).rejects.toThrow('down');
  await expect(removeOwn(context, record.id, depsFor('777'))).rejects.toThrow('not_found');
  expect(await store.stat(mediaObjectKey(record.mediaKey))).toBeDefined();
  expect(await findRecord(store, record.id)).toHaveProperty('removed');
});

test('an unreadable record is reported, and omitted from a list; a request for it fails', async () => {
  const broken = await publishSample(store, { provider });
  const sound = await publishSample(store, { provider });
  await store.put(recordKey(broken.id), Readable.from([Buffer.from('{"broken')]));
  expect((await listOwn(context, { limit: 9 }, depsFor())).records).toEqual([sound]);
  for (const use of [findOwn, removeOwn])
    await expect(use(context, broken.id, depsFor())).rejects.toThrow('internal_error');
  expect(unread).toEqual(Array(3).fill(`${broken.id}: invalid JSON`));
});

test('a repeat is refused as removed only for the user of the removed upload', async () => {
  const record = await publishSample(store, { provider });
  await removeMedia(store, record, removed);
  const tombstone = (await findRecord(store, record.id)) ?? expect.fail('no tombstone');
  expect(() => ownRecord(record, tombstone)).toThrow('removed');
  expect(ownRecord({ ...record, subject: '777' }, tombstone)).toBeUndefined();
});
