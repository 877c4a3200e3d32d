import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type SeenRequest, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { Client } from 'minio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Checksum } from '../checksum.ts';
import { failingAfter, hangingAfter, inChunks } from '../object-store.contract.ts';
import { StoreUnavailable } from '../object-store.ts';
import { PartMemory, partBytes } from '../part-memory.ts';
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

  /** Uploads of `key` that were begun and neither completed nor aborted. */
  async function unfinished(key: string): Promise<number> {
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
    'of %i bytes is one PUT, and one of nothing that must find it',
    async (size) => {
      await using proxy = await startCountingProxy(minio.endpoint);
      await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
      await store.put(`media/of-${size}`, inChunks(randomBytes(size), 65_536));
      const put = `PUT /${minio.bucket}/media/of-${size}`;
      expect(proxy.seen.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
        `${put} 200`,
        `${put} 412`,
      ]);
    },
  );

  test('of two parts and a bit is begun, sent in three parts and completed, and nothing lists', async () => {
    await using proxy = await startCountingProxy(minio.endpoint);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/large', inChunks(randomBytes(2 * partBytes + 1), 65_536));
    const calls = proxy.seen.map(({ method, query }) => [method, query.get('partNumber')]);
    expect(calls).toEqual([
      ['POST', null],
      ['PUT', '1'],
      ['PUT', '2'],
      ['PUT', '3'],
      ['POST', null],
      ['PUT', null],
    ]);
    expect(await unfinished('media/large')).toBe(0);
  });

  test.each([
    ['of one part', 100_000, ({ method }: SeenRequest) => method === 'PUT'],
    ['of several', partBytes + 1, ({ query }: SeenRequest) => query.get('partNumber') === '2'],
  ])('%s whose bytes change on the way fails, and nothing of it is there', async (what, size, isConcerned) => {
    await using proxy = await startCountingProxy(minio.endpoint, (seen) => (isConcerned(seen) ? 'changed' : 'passes'));
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    const key = `media/changed-${what.replaceAll(' ', '-')}`;
    await expect(store.put(key, inChunks(randomBytes(size), 65_536))).rejects.toThrow(StoreUnavailable);
    expect(await store.stat(key)).toBeUndefined();
    expect(await unfinished(key)).toBe(0);
  });

  test('that the store keeps in part is refused, though it confirms the checksum', async () => {
    const bytes = randomBytes(1000);
    const checksum = new Checksum();
    checksum.add(bytes);
    const headers = { ETag: createHash('md5').update(bytes).digest('hex'), 'x-amz-checksum-crc32': checksum.base64 };
    await using direct = minioStore(minio);
    let writes = 0;
    await using proxy = await startCountingProxy(minio.endpoint, () => {
      if (writes++ > 0) return 'passes';
      return {
        status: 200,
        headers,
        body: '',
        after: direct.put('media/short', Readable.from([bytes.subarray(0, 10)])),
      };
    });
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await expect(store.put('media/short', Readable.from([bytes]))).rejects.toThrow(StoreUnavailable);
    expect(await direct.stat('media/short')).toBeUndefined();
  });

  test('a record whose bytes change on the way is not written', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, () => 'changed');
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await expect(store.putIfAbsent('records/changed.json', Buffer.from('{"a":1}'))).rejects.toThrow(StoreUnavailable);
    await using direct = minioStore(minio);
    expect(await direct.stat('records/changed.json')).toBeUndefined();
  });

  test('putIfAbsent distinguishes an object with the same bytes from one with other bytes', async () => {
    await using store = minioStore(minio);
    await store.putIfAbsent('records/told.json', Buffer.from('{"a":1}'));
    expect(await store.putIfAbsent('records/told.json', Buffer.from('{"a":1}'))).toBe('exists');
    expect(await store.putIfAbsent('records/told.json', Buffer.from('{"a":2}'))).toBe('differs');
  });

  test('a replacement that fails takes nothing away', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, () => 'changed');
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await using direct = minioStore(minio);
    await direct.putIfAbsent('records/replaced.json', Buffer.from('{"a":1}'));
    const replacing = store.put('records/replaced.json', Readable.from([Buffer.from('{"a":2}')]), {
      isReplacement: true,
    });
    await expect(replacing).rejects.toThrow(StoreUnavailable);
    const reading = await direct.read('records/replaced.json');
    expect((await buffer(reading?.body ?? Readable.from([]))).toString()).toBe('{"a":1}');
  });

  test('a reader of bytes that change on the way learns of it', async () => {
    await using proxy = await startCountingProxy(minio.endpoint, ({ method }) =>
      method === 'GET' ? 'changed back' : 'passes',
    );
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/read', inChunks(randomBytes(100_000), 65_536));
    const reading = await store.read('media/read');
    await expect(buffer(reading?.body ?? Readable.from([]))).rejects.toThrow('differ from their checksum');
  });

  test('MinIO compares checksums, and is asked without a trace', async () => {
    await using proxy = await startCountingProxy(minio.endpoint);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    expect(await store.supportsChecksums()).toBe(true);
    const [asked, ...others] = proxy.seen;
    expect(others).toEqual([]);
    const key = asked?.path.slice(`/${minio.bucket}/`.length) ?? '';
    expect(await store.stat(key)).toBeUndefined();
  });

  test('whose source fails, or is given up, leaves no unfinished upload', async () => {
    await using store = minioStore(minio);
    await expect(store.put('media/failed', failingAfter(20_000_000, new Error('gone')))).rejects.toThrow('gone');
    expect(await unfinished('media/failed')).toBe(0);
    const abort = new AbortController();
    const source = hangingAfter(20_000_000, () => abort.abort(new Error('refused')));
    await expect(store.put('media/given-up', source, { signal: abort.signal })).rejects.toThrow('refused');
    expect(await unfinished('media/given-up')).toBe(0);
  });

  test('that is given up while its only PUT is on its way is taken back', async () => {
    await using store = minioStore(minio);
    const abort = new AbortController();
    const source = inChunks(randomBytes(partBytes), 65_536).once('end', () =>
      setImmediate(() => abort.abort(new Error('refused'))),
    );
    await expect(store.put('media/taken-back', source, { signal: abort.signal })).rejects.toThrow('refused');
    expect(await store.stat('media/taken-back')).toBeUndefined();
  });

  test('that is given up releases its sockets, and so does a read', async () => {
    await using proxy = await startCountingProxy(minio.endpoint);
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    await store.put('media/read', inChunks(Buffer.alloc(partBytes), 65_536));
    for (let round = 0; round < 20; round += 1) {
      (await store.read('media/read'))?.body.destroy();
      await store.put('media/failed', failingAfter(9_000_000, new Error('gone'))).catch(() => {});
    }
    expect(proxy.seen.length).toBe(2 + 20 + 20 * 3);
    // A leak would leave twenty. Two clients keep one each, and one more that opened while an earlier one was closing.
    await expect.poll(() => proxy.connections()).toBeLessThan(5);
  });

  test('shares the memory with forty others, all in the middle of a part, and each comes to its end', async () => {
    const budget = 2 * partBytes;
    const memory = new PartMemory(budget);
    await using store = minioStore(minio, { memory });
    let most = 0;
    const whole = Array.from({ length: 40 }, (_, index) => {
      const source = inChunks(Buffer.alloc(3_000_000 + index, index), 65_536);
      source.on('data', () => {
        most = Math.max(most, memory.heldBytes);
      });
      source.pause();
      return store.put(`media/shared-${index}`, source);
    });
    expect((await Promise.all(whole)).map(({ size }) => size - 3_000_000)).toEqual(whole.map((_, index) => index));
    expect(most).toBeLessThanOrEqual(budget);
    expect([memory.heldBytes, memory.waiting]).toEqual([0, 0]);
  });

  test('that waits for memory ends when its source fails, or its signal aborts', async () => {
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
    abort.abort(new Error('refused'));
    source.destroy(new Error('gone'));
    await expect(signalled).rejects.toThrow('refused');
    await expect(failing).rejects.toThrow('gone');
    holding.abort(new Error('enough'));
    await expect(holder).rejects.toThrow('enough');
    expect([memory.heldBytes, memory.waiting]).toEqual([0, 0]);
  });
});
