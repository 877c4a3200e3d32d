import { mkdtempDisposable } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { findRecord } from '@echodrop/archive/find-record';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, recordKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refusal } from '../answer/refusals.ts';
import { Publisher } from '../publish/publish.ts';
import { listOwn, type OwnParts, removeOwn } from './own-uploads.ts';

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

/** What a gateway has when this user asks. */
function asked(subject = '12345', to: ObjectStore = store): OwnParts {
  const caller = { provider, subject, userId: 1n, screenName: 'ada' };
  const verifier = { knownProviders: async () => [provider], verify: async () => ({ outcome: 'verified', caller }) };
  return {
    admission: { slot: () => ({ proven: () => {}, verified: () => {}, [Symbol.dispose]: () => {} }) },
    verifier: verifier as unknown as OwnParts['verifier'],
    store: to,
    compatibility: 'strict',
    removing: ({ id }) => audited.push(id),
    unreadable: (id) => unread.push(id),
  };
}

const headers = { 'x-auth-service-provider': provider, 'x-verify-credentials-authorization': 'OAuth x' };
const own = {
  request: { headers } as unknown as IncomingMessage,
  clientAddress: '',
  gone: new AbortController().signal,
};

test('a removal of what the store does not find for a moment is done', async () => {
  const { id } = await publishSample(store, { provider });
  vi.spyOn(store, 'read').mockResolvedValueOnce(undefined);
  await removeOwn(own, id, asked());
  expect(await findRecord(store, id)).toHaveProperty('removed');
});

/** A store whose `remove` fails: what a removal is cut short by. */
function failing(): ObjectStore {
  return new Proxy(store, {
    get: (target, name) =>
      name === 'remove' ? () => Promise.reject(new Error('down')) : Reflect.get(target, name).bind(target),
  });
}

test('a removal that is cut short has its audit line, and its repeat by the owner finishes it', async () => {
  const { id, mediaKey } = await publishSample(store, { provider });
  await expect(removeOwn(own, id, asked('12345', failing()))).rejects.toThrow('down');
  expect([audited, await store.stat(mediaObjectKey(mediaKey))]).toEqual([[id], expect.anything()]);
  await expect(removeOwn(own, id, asked())).rejects.toThrow('not_found');
  expect(await store.stat(mediaObjectKey(mediaKey))).toBeUndefined();
});

test('nobody else finishes it, or is told that it was there', async () => {
  const record = await publishSample(store, { provider });
  await expect(removeMedia(failing(), record, removed)).rejects.toThrow('down');
  await expect(removeOwn(own, record.id, asked('777'))).rejects.toThrow('not_found');
  expect(await store.stat(mediaObjectKey(record.mediaKey))).toBeDefined();
  expect(await findRecord(store, record.id)).toHaveProperty('removed');
});

test('a list is without what cannot be read, and tells of it', async () => {
  const broken = await publishSample(store, { provider });
  const sound = await publishSample(store, { provider });
  await store.put(recordKey(broken.id), Readable.from([Buffer.from('{"broken')]));
  expect((await listOwn(own, { limit: 9 }, asked())).records).toEqual([sound]);
  expect(unread).toEqual([broken.id]);
});

test('each takes a slot, which hears when its caller is verified, and is refused where there is none', async () => {
  let taken = 0;
  let verified = 0;
  const slot = () => {
    taken += 1;
    return {
      proven: () => {},
      verified: () => {
        verified += 1;
      },
      [Symbol.dispose]: () => {
        taken -= 1;
      },
    };
  };
  const { id } = await publishSample(store, { provider });
  const counted = { ...asked(), admission: { slot } };
  const during: number[] = [];
  const verify = asked().verifier.verify.bind(asked().verifier);
  const watching = {
    ...counted,
    verifier: {
      knownProviders: async () => [provider],
      verify: (...question: Parameters<typeof verify>) => {
        during.push(taken);
        return verify(...question);
      },
    } as unknown as OwnParts['verifier'],
  };
  await listOwn(own, { limit: 1 }, watching);
  await removeOwn(own, id, watching);
  expect([during, taken, verified]).toEqual([[1, 1], 0, 2]);
  const full = {
    ...asked(),
    admission: {
      slot: () => {
        throw new Refusal('overloaded');
      },
    },
  };
  await expect(listOwn(own, { limit: 1 }, full)).rejects.toThrow('overloaded');
});

test('a repeat is told that its upload was removed only where it is of the same user', async () => {
  const record: StoredRecord = await publishSample(store, { provider });
  await removeMedia(store, record, removed);
  const publisher = new Publisher(
    store,
    { probe: () => expect.unreachable(), deadlineMs: 1000 },
    { enqueue: async () => {} },
    { uploadUnlisted: () => {}, uploadRelisted: () => {}, renditionsUnasked: () => {} },
  );
  await expect(publisher.find(record.id, record)).rejects.toThrow('removed');
  expect(await publisher.find(record.id, { ...record, subject: '777' })).toBeUndefined();
});
