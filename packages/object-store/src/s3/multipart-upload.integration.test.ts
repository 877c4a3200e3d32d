import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { type SeenRequest, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { withoutLastPart } from '@echodrop/testkit/without-last-part';
import { Client } from 'minio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Checksum } from '../checksum.ts';
import { startHabitProxy } from '../habit-proxy.fixture.ts';
import type { Habit } from '../habits.fixture.ts';
import { StoreUnavailable } from '../object-store.ts';
import { PartMemory } from '../part-memory.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt, failingAfter, hangingAfter, inChunks } from '../sources.fixture.ts';
import { minioStore } from './minio-store.fixture.ts';

describeWithMinio('an upload to MinIO', {}, (start) => {
  let minio: RunningMinio;

  beforeAll(async () => {
    minio = await start();
    await using store = minioStore(minio);
    await store.ready();
  });

  afterAll(async () => {
    await minio?.[Symbol.asyncDispose]();
  });

  /** Number of incomplete multipart uploads of `key`. */
  async function countUnfinished(key: string): Promise<number> {
    const { hostname, port } = new URL(minio.endpoint);
    const client = new Client({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      accessKey: minio.accessKey,
      secretKey: minio.secretKey,
    });
    return (await client.listIncompleteUploads(minio.bucket, key, true).toArray()).length;
  }

  test.each([0, 1, 100_000, partBytes])(
    'of %i bytes is one PUT, and an empty conditional one that must conflict',
    async (size) => {
      await using proxy = await startCountingProxy(minio.endpoint);
      await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
      await store.put(`media/of-${size}`, inChunks(randomBytes(size)));
      const put = `PUT /${minio.bucket}/media/of-${size}`;
      expect(proxy.seen.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
        `${put} 200`,
        `${put} 412`,
      ]);
    },
  );

  test('of more than two parts is sent in three parts and completed, without a list', async () => {
    await using proxy = await startCountingProxy(minio.endpoint);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/large', inChunks(randomBytes(2 * partBytes + 1)));
    const calls = proxy.seen.map(({ method, query }) => [method, query.get('partNumber')]);
    expect(calls).toEqual([
      ['POST', null],
      ['PUT', '1'],
      ['PUT', '2'],
      ['PUT', '3'],
      ['POST', null],
      ['PUT', null],
    ]);
    expect(await countUnfinished('media/large')).toBe(0);
  });

  test.each([
    ['of one part', 100_000, ({ method }: SeenRequest) => method === 'PUT'],
    ['of several', partBytes + 1, ({ query }: SeenRequest) => query.get('partNumber') === '2'],
  ])('%s whose bytes change in transit fails and leaves nothing behind', async (what, size, isTarget) => {
    await using proxy = await startCountingProxy(minio.endpoint, (seen) => (isTarget(seen) ? 'changed' : 'passes'));
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    const key = `media/changed-${what.replaceAll(' ', '-')}`;
    await expect(store.put(key, inChunks(randomBytes(size)))).rejects.toThrow(StoreUnavailable);
    expect(await store.stat(key)).toBeUndefined();
    expect(await countUnfinished(key)).toBe(0);
  });

  test.each([
    ['the only PUT', 1000, 0, 'cut'],
    ['the only PUT', 1000, 0, 'lost'],
    ['the check of its existence', 1000, 1, 'lost'],
    ['the start of several parts', partBytes + 1, 0, { status: 499, body: '' }],
    ['a part', partBytes + 1, 1, 'cut'],
    ['a part', partBytes + 1, 2, { status: 500, body: '' }],
    ['the completion', partBytes + 1, 3, 'cut'],
  ] as const)('repeats %s if a stopping store does not respond to it (%i bytes, request %i: %o)', async (...args) => {
    const [, size, target, fate] = args;
    const bytes = randomBytes(size);
    let count = 0;
    await using proxy = await startCountingProxy(minio.endpoint, () => (count++ === target ? fate : 'passes'));
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/repeated', inChunks(bytes));
    expect((await bytesAt(store, 'media/repeated'))?.equals(bytes)).toBe(true);
    await store.remove('media/repeated');
  });

  test('of a store without tags, a repeated check of a missing object fails', async () => {
    let checks = 0;
    await using proxy = await startCountingProxy(minio.endpoint, ({ method }) => {
      if (method !== 'PUT') return 'passes';
      checks += 1;
      return (['swallowed', 'lost', { status: 412, body: '' }] as const)[checks - 1] ?? 'passes';
    });
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await expect(store.put('media/missing', inChunks(randomBytes(1000)))).rejects.toThrow(StoreUnavailable);
    expect(await store.stat('media/missing')).toBeUndefined();
  });

  const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
  test.each([
    ['the tag of the sent bytes', 1000, md5],
    ['a tag that is not an MD5', 1000, () => 'any'],
    ['a tag that is not an MD5, at the end of several parts', partBytes + 1, () => 'any-2'],
  ])('fails if the store keeps other bytes but confirms the checksum with %s', async (_what, size, tagOf) => {
    const bytes = randomBytes(size);
    const checksum = new Checksum();
    checksum.add(bytes);
    const etag = tagOf(bytes);
    await using direct = minioStore(minio);
    let hasLied = false;
    await using proxy = await startCountingProxy(minio.endpoint, ({ method, query }) => {
      const isTarget = size > partBytes ? method === 'POST' && query.has('uploadId') : method === 'PUT';
      if (!isTarget || hasLied) return 'passes';
      hasLied = true;
      return {
        status: 200,
        headers: { ETag: etag, 'x-amz-checksum-crc32': checksum.base64 },
        body: `<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`,
        after: () => direct.put('media/other', Readable.from([bytes.subarray(0, 10)])),
      };
    });
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await expect(store.put('media/other', inChunks(bytes))).rejects.toThrow(StoreUnavailable);
    expect(await direct.stat('media/other')).toBeUndefined();
  });

  test('fails if the store joins fewer parts than it was sent, and leaves nothing behind', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, ({ method, query }) =>
      method === 'POST' && query.has('uploadId') ? { replaced: withoutLastPart } : 'passes',
    );
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await expect(store.put('media/fewer', inChunks(randomBytes(partBytes + 1)))).rejects.toThrow(StoreUnavailable);
    expect(await store.stat('media/fewer')).toBeUndefined();
    expect(await countUnfinished('media/fewer')).toBe(0);
  });

  /** A store that reports this tag and checksum for every completed multipart upload. */
  function startConfirming(etag: string, checksum?: string) {
    const crc32 = checksum === undefined ? '' : `<ChecksumCRC32>${checksum}</ChecksumCRC32>`;
    const body = `<CompleteMultipartUploadResult><ETag>"${etag}"</ETag>${crc32}</CompleteMultipartUploadResult>`;
    return startCountingProxy(minio.endpoint, ({ method, query }) => {
      if (method === 'PUT' && !query.has('uploadId')) return { status: 412, headers: { ETag: etag }, body: '' };
      return method === 'POST' && query.has('uploadId') ? { status: 200, body } : 'passes';
    });
  }

  test.each([
    ['a tag of one part', `${md5(Buffer.from('one'))}-1`, undefined],
    ['the checksum of other parts', 'no-md5', 'AAAAAA==-2'],
    ['the checksum of other bytes', 'no-md5', 'AAAAAA=='],
  ])('of two parts fails if the store describes the object with %s', async (_what, etag, checksum) => {
    await using proxy = await startConfirming(etag, checksum);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    const writing = store.put('media/joined', inChunks(randomBytes(partBytes + 1)));
    await expect(writing).rejects.toThrow('assembled the wrong parts');
  });

  test('of several parts may be confirmed with the checksum of all bytes', async () => {
    const bytes = randomBytes(partBytes + 1);
    const checksum = new Checksum();
    checksum.add(bytes);
    await using proxy = await startConfirming('no-md5', checksum.base64);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    expect(await store.put('media/joined', inChunks(bytes))).toMatchObject({ size: bytes.length, crc32: checksum.hex });
  });

  test('in a strict process, a write needs a confirmed checksum unless a probe has found that the store verifies none', async () => {
    const has: Habit[] = [];
    await using proxy = await startHabitProxy(minio, has);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true });
    const bytes = Buffer.from('unconfirmed');
    const write = () => store.put('media/unconfirmed', Readable.from([bytes]), { isReplacement: true });
    await write();
    has.push('ignores checksums');
    await expect(write()).rejects.toThrow('did not confirm the checksum');
    expect((await write()).size).toBe(bytes.length);
    expect((await store.probe()).checksums).toBe('tag');
  });

  test('does not write a record whose bytes change in transit', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, () => 'changed');
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await expect(store.putIfAbsent('records/changed.json', Buffer.from('{"a":1}'))).rejects.toThrow(StoreUnavailable);
    await using direct = minioStore(minio);
    expect(await direct.stat('records/changed.json')).toBeUndefined();
  });

  test('putIfAbsent distinguishes an object with the same bytes from one with other bytes', async () => {
    await using store = minioStore(minio);
    // Without a probe, the store's tags may be of encrypted objects.
    await store.probe();
    await store.putIfAbsent('records/compared.json', Buffer.from('{"a":1}'));
    expect(await store.putIfAbsent('records/compared.json', Buffer.from('{"a":1}'))).toBe('exists');
    expect(await store.putIfAbsent('records/compared.json', Buffer.from('{"a":2}'))).toBe('differs');
  });

  test('a failed replacement keeps the earlier object', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, () => 'changed');
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await using direct = minioStore(minio);
    await direct.putIfAbsent('records/replaced.json', Buffer.from('{"a":1}'));
    const replacing = store.put('records/replaced.json', Readable.from([Buffer.from('{"a":2}')]), {
      isReplacement: true,
    });
    await expect(replacing).rejects.toThrow(StoreUnavailable);
    expect(`${await bytesAt(direct, 'records/replaced.json')}`).toBe('{"a":1}');
  });

  test('a reader gets an error if bytes change in transit', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, ({ method }) =>
      method === 'GET' ? 'changed back' : 'passes',
    );
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/read', inChunks(randomBytes(100_000)));
    await expect(bytesAt(store, 'media/read')).rejects.toThrow('differ from their checksum');
  });

  test('that fails or is aborted leaves no incomplete multipart upload', async () => {
    await using store = minioStore(minio);
    await expect(store.put('media/failed', failingAfter(20_000_000, new Error('gone')))).rejects.toThrow('gone');
    expect(await countUnfinished('media/failed')).toBe(0);
    const abort = new AbortController();
    const source = hangingAfter(20_000_000, () => abort.abort(new Error('aborted')));
    await expect(store.put('media/given-up', source, { signal: abort.signal })).rejects.toThrow('aborted');
    expect(await countUnfinished('media/given-up')).toBe(0);
  });

  test('that is aborted during its only PUT is removed', async () => {
    await using store = minioStore(minio);
    const abort = new AbortController();
    const source = inChunks(randomBytes(partBytes)).once('end', () =>
      setImmediate(() => abort.abort(new Error('aborted'))),
    );
    await expect(store.put('media/taken-back', source, { signal: abort.signal })).rejects.toThrow('aborted');
    expect(await store.stat('media/taken-back')).toBeUndefined();
  });

  test('that fails releases its sockets, as does a cancelled read', async () => {
    await using proxy = await startCountingProxy(minio.endpoint);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/read', inChunks(Buffer.alloc(partBytes)));
    for (let round = 0; round < 20; round += 1) {
      (await store.read('media/read'))?.body.destroy();
      await store.put('media/failed', failingAfter(9_000_000, new Error('gone'))).catch(() => {});
    }
    expect(proxy.seen.length).toBe(2 + 20 + 20 * 3);
    // A leak would leave 20. Two clients keep one each, and one may open while another closes.
    await expect.poll(() => proxy.connections()).toBeLessThan(5);
  });

  test('shares the part memory with 40 others, and all complete', async () => {
    const budget = 2 * partBytes;
    const memory = new PartMemory(budget);
    await using store = minioStore(minio, { memory });
    let peak = 0;
    const whole = Array.from({ length: 40 }, (_, index) => {
      const source = inChunks(Buffer.alloc(1_000_000 + index, index));
      source.on('data', () => {
        peak = Math.max(peak, memory.heldBytes);
      });
      source.pause();
      return store.put(`media/shared-${index}`, source);
    });
    expect((await Promise.all(whole)).map(({ size }) => size - 1_000_000)).toEqual(whole.map((_, index) => index));
    expect(peak).toBeLessThanOrEqual(budget);
    expect([memory.heldBytes, memory.waiting]).toEqual([0, 0]);
  });

  test('that waits for memory ends if its source fails or its signal aborts', async () => {
    const memory = new PartMemory(partBytes);
    await using store = minioStore(minio, { memory });
    const holding = new AbortController();
    let holds = () => {};
    const held = new Promise<void>((resolve) => {
      holds = resolve;
    });
    const holder = store.put('media/holder', hangingAfter(65_536, holds), { signal: holding.signal });
    await held;
    const abort = new AbortController();
    const signalled = store.put('media/a', Readable.from([Buffer.alloc(9)]), { signal: abort.signal });
    const source = hangingAfter(65_536, () => {});
    const failing = store.put('media/b', source);
    await expect.poll(() => memory.waiting).toBe(2);
    abort.abort(new Error('aborted'));
    source.destroy(new Error('gone'));
    await expect(signalled).rejects.toThrow('aborted');
    await expect(failing).rejects.toThrow('gone');
    holding.abort(new Error('enough'));
    await expect(holder).rejects.toThrow('enough');
    expect([memory.heldBytes, memory.waiting]).toEqual([0, 0]);
  });
});
