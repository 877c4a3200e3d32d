import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { findRecord } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, recordKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Admission } from '../admit/admission.ts';
import type { Slot } from '../admit/slots.ts';
import { Publisher } from '../publish/publish.ts';
import type { RequestContext } from '../upload-context.ts';
import { listOwn, type OwnUploadDeps, removeOwn } from './own-uploads.ts';

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
    admission: new Admission(limits, { onRefused: () => {} } as unknown as ConstructorParameters<typeof Admission>[1]),
    verifier: { knownProviders: async () => [provider], verify: async () => ({ outcome: 'verified', caller }) },
    store: to,
    compatibility: 'strict',
    events: {
      removalStarted: (_, { id }) => void audited.push(id),
      recordUnreadable: (_, id) => void unread.push(id),
    },
  };
}

const perAddress = { anonymousPerAddress: 1, failuresPerMinutePerAddress: 0 };
const limits = { maxUploads: 1, maxUploadsPerUser: 1, unverifiedBufferBytes: 1, ...perAddress };
const headers = { 'x-auth-service-provider': provider, 'x-verify-credentials-authorization': 'OAuth x' };
const context: RequestContext = {
  request: { headers },
  requestId: 'r',
  clientAddress: '',
  signal: new AbortController().signal,
};

test('an upload that the store does not find at first is removed', async () => {
  const { id } = await publishSample(store, { provider });
  vi.spyOn(store, 'read').mockResolvedValueOnce(undefined);
  await removeOwn(context, id, depsFor());
  expect(await findRecord(store, id)).toHaveProperty('removed');
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

test('a list omits unreadable records, and reports them', async () => {
  const broken = await publishSample(store, { provider });
  const sound = await publishSample(store, { provider });
  await store.put(recordKey(broken.id), Readable.from([Buffer.from('{"broken')]));
  expect((await listOwn(context, { limit: 9 }, depsFor())).records).toEqual([sound]);
  expect(unread).toEqual([broken.id]);
});

test('each request holds a slot until it ends, unverified until its caller is verified; without a slot it is refused', async () => {
  const { id } = await publishSample(store, { provider });
  const states: string[] = [];
  const admitOwnRequest = () =>
    ({
      excuse: () => {},
      markVerified: () => states.push('verified'),
      [Symbol.dispose]: () => states.push('released'),
    }) as unknown as Slot;
  const { verifier, ...deps } = depsFor();
  const verify: typeof verifier.verify = (...args) => {
    states.push('verifying');
    return verifier.verify(...args);
  };
  const watched = { ...deps, admission: { admitOwnRequest }, verifier: { ...verifier, verify } };
  await listOwn(context, { limit: 1 }, watched);
  await removeOwn(context, id, watched);
  expect(states).toEqual([...['verifying', 'verified', 'released'], ...['verifying', 'verified', 'released']]);

  using _slot = deps.admission.admitOwnRequest('');
  await expect(listOwn(context, { limit: 1 }, { ...deps, verifier })).rejects.toThrow('overloaded');
});

test('a repeat is refused as removed only for the user of the removed upload', async () => {
  const record = await publishSample(store, { provider });
  await removeMedia(store, record, removed);
  const publisher = new Publisher({
    store,
    ...{ probes: { probe: () => expect.unreachable() }, probeTimeoutMs: 1000, mediaLimits: { maxPixels: 1 } },
    renditions: { enqueue: async () => {} },
    events: { mediaProbed: () => {}, listingFailed: () => {}, listingRepaired: () => {}, enqueueFailed: () => {} },
  });
  await expect(publisher.find(record.id, record)).rejects.toThrow('removed');
  expect(await publisher.find(record.id, { ...record, subject: '777' })).toBeUndefined();
});
