import { hash, randomUUID } from 'node:crypto';
import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { listNewest, removeFromListings } from '@echodrop/archive/listing';
import { listingEntryOf } from '@echodrop/archive/listing-keys';
import { ownerHash } from '@echodrop/archive/owner';
import { removeMedia } from '@echodrop/archive/remove-media';
import { ProbeClient, startProbeWorkers } from '@echodrop/contracts/probe';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { recordKey } from '@echodrop/object-store/object-keys';
import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { decodeStoredRecord, encodeStoredRecord, isTombstone, type StoredRecord } from '@echodrop/record';
import type { RotatedSecret } from '@echodrop/service/env';
import { createLog } from '@echodrop/service/log';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { redisAt } from '@echodrop/service/redis/redis-at.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { commitMs } from '../publish/commit-record.ts';
import { OutcomeUnknown, Publisher } from '../publish/publish.ts';
import { ReceivedMedia } from '../receive/received-media.ts';
import { Refusal } from '../response/refusal-error.ts';
import { OncePublisher, type Published } from './idempotency.ts';
import { IdempotencyClaims } from './idempotency-claims.ts';

const log = createLog('test', 'silent');
const caller = { provider: 'https://example.org/', subject: '12345', userId: 12345n, screenName: 'someone' };
const probeTimeoutMs = patienceMs;
const dayMs = 24 * 60 * 60 * 1000;

const patient = { ...failFast, commandTimeout: patienceMs, connectTimeout: patienceMs, socketTimeout: patienceMs };

const parts = new AsyncDisposableStack();
let redis: RunningRedis;
let folder: string;
let store: FilesystemObjectStore;
let probes: ProbeClient;
let photo: Buffer;
/** Runs before the probe-worker replies. */
let looking: () => Promise<void>;

beforeAll(async () => {
  redis = parts.use(await startRedis());
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'idempotency-'))).path;
  store = parts.use(new FilesystemObjectStore(folder));
  photo = await samplePhoto('png', { width: 8, height: 6 });
  const connection = queueOptionsFor(redis.url);
  probes = parts.use(new ProbeClient(connection));
  const serving = { photoConcurrency: 8, videoConcurrency: 1, graceSeconds: 0, onEnd: () => {} };
  const probe = async () => {
    await looking();
    return { outcome: 'media', kind: 'photo', type: 'png', width: 8, height: 6 } as const;
  };
  for (const served of startProbeWorkers({ ...serving, probe }, connection)) parts.use(served);
  await waitUntil('the queue', async () => probes.ready().then(() => true));
});
afterAll(() => parts.disposeAsync());
beforeEach(() => {
  looking = async () => {};
  blocked.clear();
});

async function connect(): Promise<ReturnType<typeof connectRedis>> {
  const connection = parts.use(connectRedis(redisAt(redis.url), patient, log));
  await waitUntil('a connection', async () => (await connection.ping()) === 'PONG');
  return connection;
}

/** The forged claims that gateways found. */
const forged: string[] = [];

function claimsIn(
  connection: ReturnType<typeof connectRedis>,
  { heldMs = 1000, failoverMs = 0, secret = [new Secret('a secret of all gateways')] as RotatedSecret } = {},
): IdempotencyClaims {
  const forgeries = { report: (_: string, { name = '' }) => forged.push(name) };
  return new IdempotencyClaims(connection, { maxHoldMs: heldMs, failoverMs, secret, forgeries });
}

/** How long the claims of `gateway` are in use. */
let maxHoldMs = 0;

/** Users who are blocked, by their subjects. */
const blocked = new Set<string>();

function refuseBlocked({ subject }: { readonly subject: string }): void {
  if (blocked.has(subject)) throw new Refusal('caller_blocked');
}

/** The number of earlier uploads with missing listing entries. */
let repaired = 0;

/** The publisher of a gateway, with separate connections. */
async function gateway(to = store): Promise<OncePublisher> {
  const connection = await connect();
  const publisher = new Publisher({
    store: to,
    probes,
    probeTimeoutMs,
    mediaLimits: { maxPixels: 100 },
    renditions: { enqueue: async () => {} },
    blocks: { refuseBlocked },
    events: {
      mediaProbed: () => {},
      listingFailed: () => {},
      listingRepaired: () => void repaired++,
      enqueueFailed: () => {},
    },
  });
  maxHoldMs = publisher.maxMs;
  return new OncePublisher(publisher, claimsIn(connection, { heldMs: maxHoldMs }));
}

interface Sent {
  readonly key?: string;
  readonly message?: string;
  readonly alt?: string;
  readonly media?: Buffer;
  readonly application?: string;
  readonly subject?: string;
  readonly signal?: AbortSignal;
}

/** Stores, publishes and disposes of an upload like the gateway. */
async function send(to: OncePublisher, sent: Sent): Promise<Published> {
  const { key, message = 'hello', alt, media = photo, application = 'app', subject = caller.subject } = sent;
  const body = { pause: () => {}, resume: () => {}, stop: () => {} };
  const transfer = { store, onOrphan: () => expect.unreachable(), maxMediaBytes: media.length, body };
  await using received = new ReceivedMedia(transfer);
  for (const bytes of [media.subarray(0, 100), media.subarray(100)]) received.write(bytes);
  received.end();
  const { signal = new AbortController().signal } = sent;
  const stored = (await received.awaitStored()) ?? expect.fail('too large');
  const complete = { message, alt, application, caller: { ...caller, subject }, media: received, stored };
  return await to.publish(complete, key, { signal, log: {} });
}

const storedKeys = (kind: 'media' | 'records') => readdir(join(folder, 'objects', kind)).catch(() => []);

/** Counts the records and media that a test adds. */
async function counting(): Promise<() => Promise<{ records: number; media: number }>> {
  const count = async () => ({
    records: (await storedKeys('records')).length,
    media: (await storedKeys('media')).length,
  });
  const before = await count();
  return async () => {
    const { records, media } = await count();
    return { records: records - before.records, media: media - before.media };
  };
}

/** Expects the record once in the lists. */
async function expectListed(record: StoredRecord): Promise<void> {
  for (const owner of [undefined, ownerHash(record)]) {
    const { records } = await listNewest(store, { owner, limit: 500 });
    expect(records.filter(({ id }) => id === record.id)).toEqual([record]);
  }
}

/** Makes all claims older. */
async function age(ms: number): Promise<void> {
  for (const name of (await redis.command('KEYS', 'echodrop:idempotency:*')).split('\n')) {
    await redis.command('PEXPIRE', name, `${dayMs - ms}`);
  }
}

test('a repeat gets the same record from any gateway, and its media is discarded', async () => {
  const added = await counting();
  const key = randomUUID();
  const first = await send(await gateway(), { key });
  const second = await send(await gateway(), { key });
  expect(first.isRepeat).toBe(false);
  expect(second).toEqual({ record: first.record, isRepeat: true });
  expect(await added()).toEqual({ records: 1, media: 1 });
});

test('a repeat with another alternative text gets the record with the first', async () => {
  const one = await gateway();
  const key = randomUUID();
  const { record } = await send(one, { key, alt: 'Two boats' });
  expect(record.alt).toBe('Two boats');
  expect(await send(one, { key, alt: 'Three boats' })).toEqual({ record, isRepeat: true });
});

test('a repeat lists an upload whose gateway died before listing it', async () => {
  const key = randomUUID();
  const { record } = await send(await gateway(), { key });
  await removeFromListings(store, listingEntryOf(record));
  const before = repaired;
  await send(await gateway(), { key });
  await send(await gateway(), { key });
  await expectListed(record);
  expect(repaired - before).toBe(1);
});

test('a user who is blocked during the probe is refused, and so are repeats; after the block, the key publishes once', async () => {
  const added = await counting();
  const one = await gateway();
  const key = randomUUID();
  looking = async () => {
    blocked.add(caller.subject);
  };
  await expect(send(one, { key })).rejects.toThrow('caller_blocked');
  expect(await added()).toEqual({ records: 0, media: 0 });
  blocked.clear();
  looking = async () => {};
  const { record } = await send(one, { key });
  blocked.add(caller.subject);
  await expect(send(one, { key })).rejects.toThrow('caller_blocked');
  blocked.clear();
  expect(await send(one, { key })).toEqual({ record, isRepeat: true });
  expect(await added()).toEqual({ records: 1, media: 1 });
});

test('without a key, each upload is published', async () => {
  const added = await counting();
  const one = await gateway();
  const records = [await send(one, {}), await send(one, {})].map(({ record }) => record.id);
  expect(new Set(records).size).toBe(2);
  expect(await added()).toEqual({ records: 2, media: 2 });
});

test.each([
  ['another message', { message: 'bye' }],
  ['other media', { media: Buffer.from('\xff\xd8\xff other media of some length', 'latin1') }],
])('a key reused with %s is refused', async (_what, change) => {
  const one = await gateway();
  const key = randomUUID();
  await send(one, { key });
  const added = await counting();
  await expect(send(one, { key, ...change })).rejects.toThrow('idempotency_key_reused');
  expect(await added()).toEqual({ records: 0, media: 0 });
});

test('the same key of another user or application is a different key', async () => {
  const one = await gateway();
  const key = randomUUID();
  const all = [{}, { subject: '6789' }, { application: 'other' }].map((change) => send(one, { key, ...change }));
  expect(new Set((await Promise.all(all)).map(({ record }) => record.id)).size).toBe(3);
});

test('one of many concurrent repeats is published; the others get its record or Retry-After', async () => {
  const gateways = [await gateway(), await gateway()];
  const added = await counting();
  const key = randomUUID();
  const begun = performance.now();
  const all = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => send(gateways[i % 2] as OncePublisher, { key })),
  );
  const ids = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value.record.id] : []));
  const refusals = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(new Set(ids).size).toBe(1);
  // At least two seconds, and no longer than the age of the claim.
  const maxSeconds = Math.max(2, (performance.now() - begun) / 1000 + 1);
  for (const { reason, retryAfterSeconds } of refusals) {
    expect(reason).toBe('idempotency_key_in_use');
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(2);
    expect(retryAfterSeconds).toBeLessThanOrEqual(maxSeconds);
  }
  expect(await added()).toEqual({ records: 1, media: 1 });
});

test('the claim of a dead gateway stays in use for its maximum time; then one repeat takes it over', async () => {
  const one = await gateway();
  const key = randomUUID();
  const { record } = await send(one, { key });
  // Simulates a crash before the record was written.
  await store.remove(recordKey(record.id));
  const added = await counting();
  await age(maxHoldMs / 2);
  await expect(send(one, { key })).rejects.toThrow('idempotency_key_in_use');
  await expect(send(one, { key, message: 'another' })).rejects.toThrow('idempotency_key_reused');
  await age(maxHoldMs + 1000);
  const release = Promise.withResolvers<void>();
  looking = () => release.promise;
  const both = [send(one, { key }), send(await gateway(), { key })];
  await expect(Promise.race(both)).rejects.toThrow('idempotency_key_in_use');
  release.resolve();
  const published = (await Promise.allSettled(both)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  expect(published).toMatchObject([{ record: { id: record.id }, isRepeat: false }]);
  expect(await added()).toEqual({ records: 1, media: 1 });
});

test('an attempt that resumes after its claim was taken over returns the record of the other', async () => {
  const added = await counting();
  const key = randomUUID();
  const asleep = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  looking = () => {
    looking = async () => {};
    called.resolve();
    return asleep.promise;
  };
  const first = send(await gateway(), { key });
  await called.promise;
  await age(dayMs / 2);
  const second = await send(await gateway(), { key });
  await removeFromListings(store, listingEntryOf(second.record));
  asleep.resolve();
  expect(await first).toEqual({ record: second.record, isRepeat: true });
  await expectListed(second.record);
  expect((await added()).records).toBe(1);
});

test('an upload that certainly failed releases its key, even for another payload', async () => {
  const one = await gateway();
  const key = randomUUID();
  await expect(send(one, { key, media: Buffer.from('no photo') })).rejects.toThrow('media_unsupported');
  expect((await send(one, { key })).isRepeat).toBe(false);
});

test('if the outcome of a record write is unknown, a repeat returns the record or writes it with the same id', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  for (const isWritten of [true, false]) {
    const key = randomUUID();
    let written = '';
    class BrokenStore extends FilesystemObjectStore {
      override async putIfAbsent(object: string, bytes: Buffer): Promise<never> {
        if (!object.startsWith('records/')) throw new StoreUnavailable('away for a moment');
        written = object;
        if (isWritten) await store.putIfAbsent(object, bytes);
        // Ends the retries of the listing entries. The probe is over.
        vi.advanceTimersByTime(commitMs);
        throw new Error('the connection was lost');
      }
    }
    await using broken = new BrokenStore(folder);
    await expect(send(await gateway(broken), { key })).rejects.toThrow(OutcomeUnknown);
    // A second attempt that certainly fails does not change the first.
    const signal = AbortSignal.abort(new Error('the client went away'));
    if (!isWritten) await expect(send(await gateway(), { key, signal })).rejects.toThrow('the client went away');
    const { record, isRepeat } = await send(await gateway(), { key });
    expect({ object: recordKey(record.id), isRepeat }).toEqual({ object: written, isRepeat: isWritten });
    await expectListed(record);
  }
});

test("another user's record under the claimed id is never returned", async () => {
  const one = await gateway();
  const key = randomUUID();
  const { record } = await send(one, { key });
  await store.remove(recordKey(record.id));
  await store.putIfAbsent(recordKey(record.id), encodeStoredRecord({ ...record, subject: '6789' }));
  await expect(send(one, { key })).rejects.toThrow(Refusal);
  await age(dayMs / 2);
  const taken = await send(one, { key });
  expect(taken.record).toMatchObject({ subject: caller.subject });
  expect(taken.record.id).not.toBe(record.id);
});

test('only the attempt with the current value of a claim can take it over or release it', async () => {
  const connection = await connect();
  const claims = claimsIn(connection);
  const scope = { provider: 'p', subject: 's', application: 'a', key: randomUUID() };
  const { claim: first } = await claims.claim(scope, 'payload');
  await age(2000);
  const second = await claims.takeOver(scope, first);
  expect(second).toMatchObject({ fingerprint: first.fingerprint, mediaId: first.mediaId });
  await age(2000);
  expect(await claims.takeOver(scope, first)).toBeUndefined();
  await claims.release(scope, first, false);
  expect(await claims.claim(scope, 'another')).toEqual({ isNew: false, claim: second });
});

test('a claim whose reply was lost in a failover belongs to its attempt', async () => {
  const connection = await connect();
  const lost = new Set<string>();
  const lossy = new Proxy(connection, {
    get(_, name: 'set' | 'eval' | 'names') {
      if (name === 'names') return connection.names;
      return async (...parameters: Parameters<typeof connection.set>) => {
        const reply = await Reflect.apply(connection[name], connection, parameters);
        if (lost.has(name)) return reply;
        lost.add(name);
        throw new Error('connection lost');
      };
    },
  });
  const claims = claimsIn(lossy, { failoverMs: patienceMs });
  const scope = { provider: 'p', subject: 's', application: 'a', key: randomUUID() };
  const { claim, isNew } = await claims.claim(scope, 'payload');
  expect(isNew).toBe(true);
  await age(2000);
  lost.clear();
  expect(await claims.takeOver(scope, claim)).toMatchObject({ mediaId: claim.mediaId, takenOver: true });
});

/** The claim of `key` in Redis. */
async function claimOf(to: OncePublisher, key: string): Promise<{ name: string; text: string; id: string }> {
  const names = async () => (await redis.command('KEYS', 'echodrop:idempotency:*')).split('\n');
  const before = await names();
  const { record } = await send(to, { key });
  const [name = ''] = (await names()).filter((each) => !before.includes(each));
  return { name, text: await redis.command('GET', name), id: record.id };
}

test.each<[string, (claim: string, other: string) => string]>([
  ['with the id of another record', (claim, other) => claim.replace(/"mediaId":"\w+"/, `"mediaId":"${other}"`)],
  ['with an id that is a path', (claim) => claim.replace(/"mediaId":"\w+"/, '"mediaId":"../blocks/x"')],
  ['without its seal', (claim) => claim.slice(claim.indexOf(' ') + 1)],
])('a claim forged in Redis %s is ignored and counted', async (_what, rewritten) => {
  const one = await gateway();
  const { record: other } = await send(one, {});
  const key = randomUUID();
  const { name, text, id } = await claimOf(one, key);
  expect(text).toContain(id);
  await redis.command('SET', name, rewritten(text, other.id));
  forged.length = 0;
  const { record, isRepeat } = await send(one, { key });
  expect({ isRepeat, forged }).toEqual({ isRepeat: false, forged: [name] });
  expect([other.id, id, '../blocks/x']).not.toContain(record.id);
  // A valid claim replaced it.
  expect(await send(one, { key })).toEqual({ record, isRepeat: true });
  expect(Number(await redis.command('PTTL', name))).toBeGreaterThan(dayMs - patienceMs);
});

test('a claim copied to another key is ignored', async () => {
  const one = await gateway();
  const first = await claimOf(one, randomUUID());
  const key = randomUUID();
  const second = await claimOf(one, key);
  await redis.command('SET', second.name, first.text);
  const { record, isRepeat } = await send(one, { key });
  expect(isRepeat).toBe(false);
  expect(record.id).not.toBe(first.id);
});

test('during a rotation of the secret, gateways with a common secret share their claims', async () => {
  const connection = await connect();
  const older = new Secret('an older secret!');
  const newer = new Secret('a newer secret!!');
  for (const [one, other] of [
    [[older], [newer, older]],
    [[newer, older], [older]],
    [
      [older, newer],
      [newer, older],
    ],
    [[newer, older], [newer]],
    [[newer], [older, newer]],
  ] as const) {
    const scope = { provider: 'p', subject: 's', application: 'a', key: randomUUID() };
    const first = claimsIn(connection, { secret: one });
    const second = claimsIn(connection, { secret: other });
    const { claim } = await first.claim(scope, 'payload');
    const repeat = await second.claim(scope, 'payload');
    expect(repeat).toMatchObject({ isNew: false, claim: { mediaId: claim.mediaId } });
    expect([second.isFor(scope, repeat.claim, 'payload'), second.isFor(scope, repeat.claim, 'other')]).toEqual([
      true,
      false,
    ]);
    expect(await second.takeOver(scope, repeat.claim)).toBeUndefined();
    await age(2000);
    expect(await second.takeOver(scope, repeat.claim)).toMatchObject({ mediaId: claim.mediaId });
    await first.release(scope, claim, false);
    expect(await first.claim(scope, 'payload')).toMatchObject({ isNew: false });
    // An attempt that failed leaves its key free.
    const released = { ...scope, key: randomUUID() };
    await first.release(released, (await first.claim(released, 'payload')).claim, false);
    expect((await second.claim(released, 'payload')).isNew).toBe(true);
  }
});

test('a reader of Redis cannot confirm a guessed user, key or caption', async () => {
  await redis.command('FLUSHALL');
  const { record } = await send(await gateway(), { key: 'my-key' });
  const name = await redis.command('KEYS', 'echodrop:idempotency:*');
  expect(name).toMatch(/^echodrop:idempotency:3:[\da-f]{64}$/);
  expect(Number(await redis.command('PTTL', name))).toBeGreaterThan(dayMs - patienceMs);
  const text = await redis.command('GET', name);
  const { provider, subject, application } = record;
  const checksum = crc32(photo).toString(16).padStart(8, '0');
  for (const guess of [
    [provider, subject, application, 'my-key'],
    [record.text, photo.length, checksum],
  ])
    expect(`${name} ${text}`).not.toContain(hash('sha256', JSON.stringify(guess)));
});

test('a repeat of an upload that was removed while its commit was retried publishes nothing', async () => {
  const key = randomUUID();
  let writes = 0;
  class LossyStore extends FilesystemObjectStore {
    override async putIfAbsent(object: string, bytes: Buffer) {
      const outcome = await super.putIfAbsent(object, bytes);
      if (!object.startsWith('records/') || ++writes > 2) return outcome;
      const record = decodeStoredRecord(bytes, object.slice('records/'.length, -'.json'.length));
      if (writes === 2 && !isTombstone(record)) await removeMedia(store, record, { by: 'owner', at: new Date() });
      throw new StoreUnavailable('the response was lost');
    }
  }
  await using lossy = new LossyStore(folder);
  await expect(send(await gateway(lossy), { key })).rejects.toThrow('removed');
  await expect(send(await gateway(), { key })).rejects.toThrow('removed');
});

test('a repeat does not get a record whose text the store changed', async () => {
  const key = randomUUID();
  const one = await gateway();
  const { record } = await send(one, { key });
  const bytes = Buffer.from(encodeStoredRecord(record).toString().replace('"hello"', '"hallo"'));
  await store.put(recordKey(record.id), Readable.from([bytes]));
  await expect(send(one, { key })).rejects.toThrow('stored record differs from the one written');
});

test('without Redis, an upload with a key fails and leaves nothing behind', async () => {
  const one = await gateway();
  const added = await counting();
  await redis.kill();
  try {
    await expect(send(one, { key: randomUUID() })).rejects.not.toBeInstanceOf(Refusal);
    expect(await added()).toEqual({ records: 0, media: 0 });
  } finally {
    await redis.restart();
  }
});
