import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import { rebuildListings } from '@echodrop/archive/rebuild-listings';
import { findRecord } from '@echodrop/archive/records';
import type { ProbeClient } from '@echodrop/contracts/probe';
import type { Caller } from '@echodrop/contracts/verification';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { recordKey } from '@echodrop/object-store/object-keys';
import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReceivedMedia } from '../receive/received-media.ts';
import { Refusal } from '../response/refusal-error.ts';
import { commitMs } from './commit-record.ts';
import { OutcomeUnknown, type PublishContext, Publisher } from './publish.ts';

const caller: Caller = { provider: 'https://provider.example', subject: '1', userId: 1n, screenName: 'one' };
const photo = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const probe = { outcome: 'media', kind: 'photo', type: 'png', width: 1, height: 1 } as const;

/** A store that refuses the first writes of some keys. */
class FaultyStore extends FilesystemObjectStore {
  refusals: string[] = [];
  refused = async () => {};

  override async putIfAbsent(key: string, bytes: Buffer) {
    const at = this.refusals.findIndex((prefix) => key.startsWith(prefix));
    if (at < 0) return super.putIfAbsent(key, bytes);
    this.refusals.splice(at, 1);
    await this.refused();
    throw new StoreUnavailable('away for a moment');
  }
}

/** A store that loses the responses to the first writes of a record, and once does not find it. */
class ForgetfulStore extends FaultyStore {
  #lost = 2;
  #notFound = 1;

  override async putIfAbsent(key: string, bytes: Buffer) {
    const outcome = await super.putIfAbsent(key, bytes);
    if (key.startsWith('records/') && this.#lost-- > 0) throw new StoreUnavailable('the response is lost');
    return outcome;
  }

  override async read(key: string, options?: Parameters<FilesystemObjectStore['read']>[1]) {
    return key.startsWith('records/') && this.#notFound-- > 0 ? undefined : super.read(key, options);
  }
}

let parts: AsyncDisposableStack;
let folder: string;
let store: FaultyStore;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'publish-'))).path;
  store = parts.use(new FaultyStore(folder));
});
afterEach(() => parts.disposeAsync());

const ownWaitMs = 3210.4;

async function waitForOwn(...[, , { onOwnWait }]: Parameters<ProbeClient['probe']>) {
  onOwnWait?.(ownWaitMs);
  return probe;
}

test('an upload knows how long it waited behind other probes of its user', async () => {
  expect((await publish()).log.ownWaitSeconds).toBe(3.21);
});

type Deps = ConstructorParameters<typeof Publisher>[0];

/** Publishes a photo. */
async function publish(
  to = store,
  { enqueue = async () => {}, refuseBlocked = () => {} }: Partial<Deps['renditions'] & Deps['blocks']> = {},
) {
  let missing = 0;
  const failed: string[] = [];
  const events = {
    listingFailed: () => {
      missing += 1;
    },
    mediaProbed: () => expect.unreachable(),
    listingRepaired: () => expect.unreachable(),
    enqueueFailed: (mediaKey: string) => void failed.push(mediaKey),
  };
  const probes = { probes: { probe: waitForOwn }, probeTimeoutMs: 1000, mediaLimits: { maxPixels: 1 } };
  const others = { ...probes, renditions: { enqueue }, blocks: { refuseBlocked }, events };
  const publisher = new Publisher({ store: to, ...others });
  const log: PublishContext['log'] = {};
  const body = { pause: () => {}, resume: () => {}, stop: () => {} };
  await using media = new ReceivedMedia({
    store: to,
    onOrphan: () => expect.unreachable(),
    maxMediaBytes: photo.length,
    body,
  });
  media.write(photo);
  media.end();
  const stored = (await media.awaitStored()) ?? expect.fail('too large');
  const upload = { caller, media, message: 'hello', application: 'app', stored };
  const record = await publisher.publish(upload, { signal: new AbortController().signal, log });
  return { record, missing, failed, log };
}

test.each([
  ['record and entries', ['records/', 'by-user/', 'by-time/']],
  ['an entry', ['by-time/']],
])('if the store refuses %s at first, the upload is still published and listed', async (_what, refusals) => {
  store.refusals = [...refusals];
  const { record, missing } = await publish();
  expect((await listNewest(store, { limit: 9 })).records.map(({ id }) => id)).toEqual([record.id]);
  expect(missing).toBe(0);
});

test('a record that the store does not find for a moment is not written twice', async () => {
  const forgetful = parts.use(new ForgetfulStore(folder));
  const { record } = await publish(forgetful);
  const records = await store.list('records/', { limit: 9 });
  expect(records.map(({ key }) => key)).toEqual([recordKey(record.id)]);
});

test('a record that the store corrupts is a failure', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.spyOn(store, 'commit').mockImplementation(async (key, bytes) => {
    // The time for retries ends with the second.
    vi.advanceTimersByTime(commitMs / 2);
    await store.putIfAbsent(key, Buffer.from(bytes.toString().replace('hello', 'hallo')));
    return 'differs';
  });
  await expect(publish()).rejects.toThrow('the record may have been written');
});

test('an upload whose listing entries fail for as long as they are retried is published, and counted as missing', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  store.refusals = Array(9).fill('by-time/');
  store.refused = async () => void vi.advanceTimersByTime(commitMs / 2);
  const { record, missing } = await publish();
  expect(missing).toBe(1);
  expect(await findRecord(store, record.id)).toEqual(record);
});

test('renditions are enqueued for the owner of the record, with the facts that determine their cost', async () => {
  const enqueue = vi.fn(async () => {});
  const { record } = await publish(store, { enqueue });
  const about = { mediaKey: record.mediaKey, type: 'png', owner: ownerHash(caller) };
  expect(enqueue.mock.calls).toEqual([[{ ...about, pixels: 1, bytes: photo.length }]]);
});

test('an upload is published while the rendition queue hangs or is down', async () => {
  expect((await publish(store, { enqueue: () => new Promise(() => {}) })).failed).toEqual([]);
  const { record, failed } = await publish(store, { enqueue: () => Promise.reject(new Error('the queue is down')) });
  expect(failed).toEqual([record.mediaKey]);
});

test('listing entries written before their record survive the removal of dead entries', async () => {
  // Both writes of the first try.
  store.refusals = ['records/', 'records/'];
  store.refused = async () => {
    await expect.poll(async () => (await store.list('by-time/', { limit: 9 })).length).toBe(1);
    expect(await Array.fromAsync(rebuildListings(store))).toEqual([]);
  };
  const { record } = await publish();
  expect((await listNewest(store, { limit: 9 })).records.map(({ id }) => id)).toEqual([record.id]);
});

test('a user blocked while the store is away is not published', async () => {
  store.refusals = ['records/', 'records/'];
  let isBlocked = false;
  store.refused = async () => {
    isBlocked = true;
  };
  const refuseBlocked = () => {
    if (isBlocked) throw new Refusal('caller_blocked');
  };
  await expect(publish(store, { refuseBlocked })).rejects.toThrow(OutcomeUnknown);
  expect(await store.list('records/', { limit: 9 })).toEqual([]);
});
