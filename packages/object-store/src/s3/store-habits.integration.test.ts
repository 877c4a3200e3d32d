import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { reasonOf } from '@echodrop/service/reason-of';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHabitProxy } from '../habit-proxy.fixture.ts';
import { type Fault, type Habit, habits, leastCapable } from '../habits.fixture.ts';
import { listObjects } from '../list-objects.ts';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { type ObjectStore, StagedWriteLost } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt } from '../sources.fixture.ts';
import { limitationsOf, type StoreCapabilities, usualCapabilities } from '../store-capabilities.ts';
import { appendAll } from './append-all.fixture.ts';
import { minioStore, patientDeadlines } from './minio-store.fixture.ts';

const onMinio = { ...usualCapabilities, hasMd5Tags: true, notes: [] };

const found: Record<Habit, Partial<StoreCapabilities>> = {
  'ignores conditions': { hasConditionalWrites: false },
  'refuses conditions': { hasConditionalWrites: false },
  'conditions get 405': { hasConditionalWrites: false },
  'conditions get 422': { hasConditionalWrites: false },
  'replaces objects by nothing': { hasConditionalWrites: false },
  'replaces joined objects': { hasConditionalWrites: false },
  'conflicts show refused bytes': { hasConditionalWrites: false },
  conflicts: {},
  'refuses second writes': { hasRepeatedWrites: false },
  'refuses concurrent writes': { hasRepeatedWrites: false },
  'refuses checksums': { checksums: 'md5' },
  'refuses announced checksums': { checksums: 'md5' },
  'confirms no checksums of parts': { checksums: 'md5' },
  'refuses checksums in completions': { checksums: 'md5' },
  'ignores checksums': { checksums: 'tag' },
  'calls a wrong checksum a bad request': {},
  'wants equal parts': {},
  'joins checksums': {},
  'hides joined checksums': {},
  'changes tags': { hasFinalTags: false, hasMd5Tags: false },
  'has no empty lists': {},
  'joins replaced parts': {},
  'keeps replaced parts': {},
  'lists late': { hasImmediateLists: false },
  'removals get 200': {},
  'refuses needless parameters': {},
};

const combinations: [string, readonly Habit[]][] = [
  ['no habit', []],
  ...habits.map((habit): [string, readonly Habit[]] => [habit, [habit]]),
  ['the least capable', leastCapable],
  ['joins replaced parts and ignores checksums', ['joins replaced parts', 'ignores checksums']],
];

describeWithMinio('a store that', {}, (start) => {
  const parts = new AsyncDisposableStack();
  let minio: RunningMinio;
  beforeAll(async () => {
    minio = parts.use(await start());
    await using store = minioStore(minio);
    await store.ready();
  });
  afterAll(() => parts.disposeAsync());

  describe.each(combinations)('%s', (_, has) => {
    const opened = new AsyncDisposableStack();
    let store: ObjectStore;
    beforeAll(async () => {
      const { endpoint } = opened.use(await startHabitProxy(minio, has));
      store = opened.use(minioStore({ ...minio, endpoint }, { isStrict: true }));
      await store.ready();
      await store.probe();
    });
    afterAll(() => opened.disposeAsync());

    test('is detected, and no object of the probe remains', async () => {
      const before = await keptBy(store);
      const capabilities = Object.assign({}, onMinio, ...has.map((habit) => found[habit]));
      expect(await store.probe()).toEqual({ ...capabilities, notes: expect.any(Array) });
      expect(await keptBy(store)).toEqual(before);
    });

    test('stores and returns objects of one and of several parts', async () => {
      for (const size of [1, 2 * partBytes + 1]) {
        const bytes = randomBytes(size);
        const key = mediaObjectKey(newMediaKey());
        const written = await store.put(key, Readable.from([bytes]));
        expect((await bytesAt(store, key))?.equals(bytes)).toBe(true);
        expect(await store.stat(key)).toEqual({ key, size, etag: written.etag });
      }
    });

    test('keeps the first of two records', async () => {
      const key = `records/${newMediaKey()}.json`;
      expect(await store.commit(key, Buffer.from('{"a":1}'))).toBe('created');
      expect(await store.commit(key, Buffer.from('{"a":1}'))).toBe('exists');
      expect(await store.commit(key, Buffer.from('{"a":2}'))).not.toBe('created');
      expect(await store.commit(key, Buffer.from('{"a":12}'))).not.toBe('created');
      expect(`${await bytesAt(store, key)}`).toBe('{"a":1}');
    });

    test('keeps the first of two small objects', async () => {
      const key = `by-time/${newMediaKey()}`;
      expect(await store.putIfAbsent(key, Buffer.alloc(0))).toBe('created');
      expect(await store.putIfAbsent(key, Buffer.alloc(0))).toBe('exists');
    });

    test('takes a staged write of uneven pieces', async () => {
      const pieces = [6_500_000, 9_000_000, 2_400_000, 1, partBytes].map((size) => randomBytes(size));
      const write = await appendAll(store, pieces);
      expect((await store.completeWrite(write)).size).toBe(Buffer.concat(pieces).length);
      expect((await bytesAt(store, write.key))?.equals(Buffer.concat(pieces))).toBe(true);
    });

    test('loses a staged write whose bytes a suspended process has overwritten, or keeps its bytes', async () => {
      const bytes = randomBytes(partBytes + 1);
      const write = await appendAll(store, [bytes]);
      const before = { ...write, parts: [], tails: [], size: 0, crc32: '00000000' };
      await appendAll(store, [randomBytes(partBytes + 1)], before);
      if (has.includes('keeps replaced parts')) {
        await store.completeWrite(write);
        expect((await bytesAt(store, write.key))?.equals(bytes)).toBe(true);
      } else await expect(store.completeWrite(write)).rejects.toThrow(StagedWriteLost);
    });
  });

  test('a strict process probes the store before it completes a staged write', async () => {
    await using proxy = await startHabitProxy(minio, ['ignores conditions']);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    const bytes = randomBytes(partBytes + 1);
    const write = await appendAll(store, [bytes]);
    expect((await store.completeWrite(write)).size).toBe(bytes.length);
    expect((await bytesAt(store, write.key))?.equals(bytes)).toBe(true);
  });

  const uses: [string, (store: ObjectStore) => Promise<unknown>][] = [
    ['a record', (store) => store.commit(`records/${newMediaKey()}.json`, Buffer.from('{}'))],
    ['media', (store) => store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(10)]))],
    ['a staged write', async (store) => store.completeWrite(await appendAll(store, [randomBytes(10)]))],
  ];
  const changes: Habit[] = ['ignores conditions', 'refuses conditions', 'refuses checksums'];
  const refused = changes
    .flatMap((habit) => uses.map(([name, use]) => [habit, name, use] as const))
    .filter(([habit, name]) => habit !== 'ignores conditions' || name !== 'a record');
  test.each(refused)('that %s from now on refuses %s once, and is probed again', async (habit, _, use) => {
    const has: Habit[] = [];
    const found: number[] = [];
    const onProbed = (capabilities: StoreCapabilities) => void found.push(limitationsOf(capabilities).length);
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true, onProbed });
    await use(store);
    has.push(habit);
    await expect(use(store)).rejects.toThrow(Error);
    await use(store);
    expect(found).toEqual([0, 1]);
  });

  test('that must be probed is probed before a record is checked and written, and not between', async () => {
    const has: Habit[] = [];
    const steps: string[] = [];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore(
      { ...minio, endpoint: proxy.endpoint },
      { isStrict: true, onProbed: () => void steps.push('probed') },
    );
    const commit = (check: () => Promise<void>) =>
      store.commit(`records/${newMediaKey()}.json`, Buffer.from('{}'), check);
    const refuseAnother = async () => {
      steps.push('checked');
      has.push('refuses checksums');
      await expect(store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(10)]))).rejects.toThrow('400');
    };
    await expect(commit(refuseAnother)).rejects.toThrow('must be probed before the next write');
    expect(await commit(async () => void steps.push('checked again'))).toBe('created');
    expect(steps).toEqual(['probed', 'checked', 'probed', 'checked again']);
  });

  test.each([1, 5, 20])(
    'that is probed has no object of the probe after an interruption at its object %i',
    async (count) => {
      await using store = minioStore(minio);
      const before = await keptBy(store);
      let calls = 0;
      const throwIfAborted = () => {
        calls += 1;
        if (calls === count) throw new Error('interrupted');
      };
      const signal = Object.assign(new AbortController().signal, { throwIfAborted });
      await expect(store.probe({ isThorough: true, signal })).rejects.toThrow('interrupted');
      expect(await keptBy(store)).toEqual(before);
    },
  );

  test('whose bytes change on their way is not taken for one without checksums, then or later', async () => {
    const has: Fault[] = ['changes bytes'];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    await expect(store.ready()).rejects.toThrow(/object store refuses a write.*/);
    has.pop();
    await afterPause(() => store.ready());
    has.push('changes bytes');
    const put = () => store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(10)]));
    for (let n = 0; n < 3; n += 1) await expect(put()).rejects.toThrow('object store responded with 400');
    has.pop();
    await put();
    expect((await store.probe()).checksums).toBe('crc32');
  });

  test('whose refusals mean nothing new, as with a quota, is not probed for each', async () => {
    const has: Fault[] = [];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    await store.ready();
    const put = () => store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(100)]));
    const countRequests = async () => {
      has.push('has a quota');
      await expect(put()).rejects.toThrow('QuotaExceeded');
      has.pop();
      const before = proxy.requests;
      await put();
      return proxy.requests - before;
    };
    expect(await countRequests()).toBeGreaterThan(20);
    for (let n = 0; n < 10; n += 1) expect(await countRequests()).toBe(2);
    await store.ready();
  });

  test.each(['answers the first race with 429', 'loses the first response of a race'] as const)(
    'that %s is ready for a key that may not read media',
    async (fault) => {
      await using proxy = await startHabitProxy(minio, [fault, 'refuses reads of media']);
      await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
      await store.ready();
    },
  );

  test('that lets both writers of a race win is known to ignore conditions, although a second probe sees none', async () => {
    await using proxy = await startHabitProxy(minio, ['both writes of the first race win']);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    expect((await store.probe()).hasConditionalWrites).toBe(false);
  });

  test('that comes back without its bucket is not ready until it has it again', async () => {
    const has: Fault[] = [];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    await store.ready();
    has.push('has lost its bucket');
    await expect(store.ready()).rejects.toThrow('bucket is missing, although it was there before');
    has.pop();
    await store.ready();
  });

  test('whose address begins with the bucket, as consoles show it, gets no bucket', async () => {
    await using store = minioStore({ ...minio, bucket: '127' });
    await expect(store.ready()).rejects.toThrow('remove its name from the host of S3_ENDPOINT');
  });

  test('that was away is probed again before the next write, although readiness is not checked', async () => {
    const has: (Fault | Habit)[] = [];
    const found: boolean[] = [];
    const onProbed = ({ hasConditionalWrites }: StoreCapabilities) => void found.push(hasConditionalWrites);
    await using proxy = await startHabitProxy(minio, has);
    const deadlines = { ...patientDeadlines, callMs: 5000, writeMs: 5000 };
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true, onProbed, deadlines });
    const put = () => store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(100)]));
    await put();
    has.push('is away');
    await expect(put()).rejects.toThrow('object store request failed');
    has.splice(0, 1, 'ignores conditions');
    await put();
    expect(found).toEqual([true, false]);
  });

  test('that ignores conditions from now on takes a record, and is probed again', async () => {
    const has: Habit[] = [];
    const found: boolean[] = [];
    const onProbed = ({ hasConditionalWrites }: StoreCapabilities) => void found.push(hasConditionalWrites);
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true, onProbed });
    await store.ready();
    has.push('ignores conditions');
    for (const text of ['{"a":1}', '{"a":2}']) {
      const key = `records/${newMediaKey()}.json`;
      expect(await store.commit(key, Buffer.from(text))).toBe('created');
      expect(`${await bytesAt(store, key)}`).toBe(text);
    }
    expect(found).toEqual([true, false]);
  });

  test('that cannot be used is probed again after pauses that grow, or after an outage', async () => {
    const has: Fault[] = ['responds with 304 to a write'];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    const fail = () => expect(store.ready()).rejects.toThrow('with 304 instead of 412');
    const requestsOf = async (call: () => Promise<void>) => {
      const before = proxy.requests;
      await call();
      return proxy.requests - before;
    };
    expect(await requestsOf(fail)).toBeGreaterThan(5);
    expect(await requestsOf(fail)).toBe(1);
    expect(await requestsOf(() => afterPause(fail))).toBeGreaterThan(5);
    has.pop();
    await fail();
    await afterPause(() => store.ready());
  });

  test('that confirms nothing is not ready once its key may no longer read media', async () => {
    const has: (Fault | Habit)[] = ['ignores conditions'];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    const commit = () => store.commit(`records/${newMediaKey()}.json`, Buffer.from('{}'));
    const put = () => store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(10)]));
    await put();
    await store.ready();
    has.push('refuses reads of media');
    await expect(put()).rejects.toThrow('403');
    await expect(store.ready()).rejects.toThrow('needs permission to read media');
    has.pop();
    await afterPause(() => store.ready());
    await commit();
  });

  test.each([
    ['ignores conditions', 'permission to read media'],
    ['conflicts', undefined],
  ] as const)('%s is, to a key that may not read media: %s', async (habit, fault) => {
    await using proxy = await startHabitProxy(minio, [habit, 'refuses reads of media']);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    const found = store.probe().then(limitationsOf, (error: Error) => [error.message]);
    expect(await found).toEqual(fault ? [expect.stringContaining(fault)] : []);
  });

  test.each([
    ['conditions get 403', 'a conditional write: object store responded with 403'],
    ['conditions get 500', 'a conditional write: object store responded with 500'],
    ['forbids second writes', 'a second write: object store responded with 403'],
    ['refuses empty objects', 'an empty object: object store responded with 411'],
    ['fails after status 200 of each completion', 'a multipart upload: object store responded with 200 InternalError'],
  ] as const)('cannot be used if %s: it refuses %s', async (fault, sentence) => {
    const has: (Fault | Habit)[] = [fault];
    if (fault === 'forbids second writes') has.push('refuses conditions');
    await using proxy = await startHabitProxy(minio, has);
    const deadlines = { ...patientDeadlines, writeMs: 2000, joinMs: 2000 };
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { deadlines });
    expect(reasonOf(await store.probe().catch((error: unknown) => error))).toContain(
      `object store refuses ${sentence}`,
    );
  });

  const unlikeAws = [
    'refuses checksums',
    'refuses announced checksums',
    'confirms no checksums of parts',
    'refuses conditions',
    'conditions get 405',
  ] as const;
  test.each(unlikeAws)('%s takes what a process writes that does not probe', async (habit) => {
    await using proxy = await startHabitProxy(minio, [habit]);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    const bytes = randomBytes(partBytes + 1);
    const keys = ['a', 'b'].map((name) => `renditions/${newMediaKey()}/${name}`);
    for (const key of keys) {
      await store.put(key, Readable.from([bytes]), { isReplacement: true });
      expect((await bytesAt(store, key))?.equals(bytes)).toBe(true);
    }
    expect(await store.putIfAbsent(keys[0] ?? '', Buffer.alloc(0))).not.toBe('created');
    expect(await store.putIfAbsent(`by-time/${newMediaKey()}`, Buffer.alloc(0))).toBe('created');
  });

  test('that refuses conditions after a probe refuses them: only a process that never probes does without', async () => {
    const has: Habit[] = [];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.probe();
    has.push('refuses conditions');
    await expect(store.putIfAbsent(`by-time/${newMediaKey()}`, Buffer.alloc(0))).rejects.toThrow('501');
  });

  test('that refuses checksums in completions takes the next upload of a process that does not probe', async () => {
    await using proxy = await startHabitProxy(minio, ['refuses checksums in completions']);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    const bytes = randomBytes(partBytes + 1);
    const key = `renditions/${newMediaKey()}/a`;
    const put = () => store.put(key, Readable.from([bytes]), { isReplacement: true });
    await expect(put()).rejects.toThrow('MalformedXML');
    expect(await store.stat(key)).toBeUndefined();
    await put();
    expect((await bytesAt(store, key))?.equals(bytes)).toBe(true);
  });
});

let skippedMs = 0;

/** Makes a call as if two minutes had passed since the last one. */
async function afterPause(call: () => Promise<void>): Promise<void> {
  skippedMs += 120_000;
  const later = performance.now() + skippedMs;
  vi.spyOn(performance, 'now').mockImplementation(() => later);
  await call().finally(() => vi.restoreAllMocks());
}

test('limitations are sentences for operators', () => {
  expect(limitationsOf(onMinio)).toEqual([]);
  const least = { hasConditionalWrites: false, checksums: 'none', hasRepeatedWrites: false } as const;
  const leastOfFolder = { hasHardLinks: false, hasDirectorySync: false };
  expect(
    limitationsOf({ ...onMinio, ...least, comparesParts: false, hasFinalTags: false, ...leastOfFolder }),
  ).toHaveLength(7);
});

async function keptBy(store: ObjectStore) {
  const keys = await Array.fromAsync(listObjects(store, 'media/'), ({ key }) => key);
  return { keys, unfinished: await Array.fromAsync(store.listUnfinishedWrites(), ({ id }) => id) };
}
