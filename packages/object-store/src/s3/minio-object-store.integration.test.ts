import { Readable } from 'node:stream';
import { startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { listObjects } from '../list-objects.ts';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { partBytes } from '../part-size.ts';
import { failingAfter } from '../sources.fixture.ts';
import { type AppendOptions, newStagedWrite, type StagedWrite } from '../staged-write.ts';
import { minioStore } from './minio-store.fixture.ts';
import { startShortPages } from './short-pages.fixture.ts';

const MiB = 2 ** 20;

describeWithMinio('the MinIO store', {}, (start) => {
  objectStoreContract(async () => {
    const minio = await start();
    const store = minioStore(minio);
    const other = minioStore(minio);
    return {
      store,
      other,
      async [Symbol.asyncDispose]() {
        await Promise.all([store, other, minio].map((each) => each[Symbol.asyncDispose]()));
      },
    };
  });
});

describeWithMinio('the tails of a staged write', {}, (start) => {
  const parts = new AsyncDisposableStack();
  let store: ReturnType<typeof minioStore>;
  let write: StagedWrite;
  let minio: RunningMinio;
  beforeAll(async () => {
    minio = parts.use(await start());
    store = parts.use(minioStore(minio));
    await store.ready();
  });
  beforeEach(() => {
    write = newStagedWrite(mediaObjectKey(newMediaKey()), 'application/octet-stream');
  });
  afterAll(() => parts.disposeAsync());

  function append(source: Readable, more: Partial<AppendOptions> = {}) {
    const newTailKey = () => `resumable/${newMediaKey()}/tail`;
    const save = async (next: StagedWrite) => {
      write = next;
    };
    return store.append(write, source, { newTailKey, save, ...more });
  }
  const bytes = (size: number) => Readable.from([Buffer.alloc(size)]);
  const sizes = () => write.tails.map(({ size }) => size);

  test('few bytes are stored without those before, until they are many or make a part', async () => {
    for (let n = 1; n <= 16; n += 1) await append(bytes(300_000));
    expect(sizes()).toEqual(Array.from({ length: 16 }, () => 300_000));
    await append(bytes(300_000));
    expect(sizes()).toEqual([17 * 300_000]);
    await append(bytes(4 * MiB));
    expect([write.parts.length, ...sizes()]).toEqual([1, 17 * 300_000 + 4 * MiB - partBytes]);
  });

  test('so are those of broken sources', async () => {
    const breakAfter = (size: number) => expect(append(failingAfter(size, new Error('gone')))).rejects.toThrow('gone');
    await append(bytes(3 * MiB));
    for (let n = 1; n <= 15; n += 1) await breakAfter(MiB / 16);
    expect(sizes()).toEqual([3 * MiB, ...Array.from({ length: 15 }, () => MiB / 16)]);
    await breakAfter(MiB / 16);
    expect(sizes()).toEqual([4 * MiB]);
  });

  test('what a broken source has sent is a tail, whatever its size', async () => {
    await append(bytes(1000));
    await expect(append(failingAfter(6 * MiB, new Error('gone')))).rejects.toThrow('gone');
    expect([write.parts.length, ...sizes()]).toEqual([0, 1000, 6 * MiB]);
  });

  test('few bytes that `verify` refuses cost the store nothing, however many tails there are', async () => {
    for (let n = 1; n <= 16; n += 1) await append(bytes(1000));
    await using proxy = await startCountingProxy(minio.endpoint);
    await using observed = minioStore({ ...minio, endpoint: proxy.endpoint });
    const verify = () => {
      throw new Error('not these');
    };
    const options = { newTailKey: () => 'resumable/a/tail', save: async () => {}, verify };
    await expect(observed.append(write, bytes(1), options)).rejects.toThrow('not these');
    expect(proxy.seen).toEqual([]);
  });

  test('few bytes that `verify` refuses leave the tails before', async () => {
    await append(bytes(1000));
    const before = write;
    const verify = () => {
      throw new Error('not these');
    };
    await expect(append(bytes(1000), { verify })).rejects.toThrow('not these');
    expect(write).toEqual(before);
    expect((await store.completeWrite(write)).size).toBe(1000);
  });
});

describeWithMinio('a store that returns short list pages', {}, (start) => {
  test('lists everything, even after an empty page', async () => {
    await using minio = await start();
    await using store = minioStore(minio);
    await store.ready();
    const keys = Array.from({ length: 120 }, (_, n) => `media/${String(n).padStart(3, '0')}`);
    for (const key of keys) await store.put(key, Readable.from([Buffer.from(key)]));
    await using short = await startShortPages(minio.endpoint, 1);
    await using listing = minioStore({ ...minio, endpoint: short.endpoint });
    expect((await listing.list('media/', { limit: 1000 })).map(({ key }) => key)).toEqual(keys);
    expect((await listing.list('media/', { after: keys[1], limit: 7 })).map(({ key }) => key)).toEqual(
      keys.slice(2, 9),
    );
    expect(await Array.fromAsync(listObjects(listing, 'media/'), ({ key }) => key)).toEqual(keys);
  });

  test('fails after too many empty pages', async () => {
    await using minio = await start();
    await using store = minioStore(minio);
    await store.ready();
    await store.put('media/a', Readable.from([Buffer.from('a')]));
    await using short = await startShortPages(minio.endpoint, 0);
    await using listing = minioStore({ ...minio, endpoint: short.endpoint });
    await expect(listing.list('media/', { limit: 1 })).rejects.toThrow('too many empty list pages');
  });
});
