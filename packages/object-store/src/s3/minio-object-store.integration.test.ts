import { Readable } from 'node:stream';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { listObjects } from '../list-objects.ts';
import { minioStore } from './minio-store.fixture.ts';
import { startShortPages } from './short-pages.fixture.ts';

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
