import { Readable } from 'node:stream';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { listObjects } from '../every-object.ts';
import { objectStoreContract } from '../object-store.contract.ts';
import { startShortPages } from '../short-pages.fixture.ts';
import { minioStore } from './minio-store.fixture.ts';

describeWithMinio('the store on MinIO', {}, (start) => {
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

describeWithMinio('a store that lists less than it is asked for', {}, (start) => {
  test('is listed whole, also where there is more behind a page with nothing', async () => {
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

  test('and has page after page with nothing is given up', async () => {
    await using minio = await start();
    await using store = minioStore(minio);
    await store.ready();
    await store.put('media/a', Readable.from([Buffer.from('a')]));
    await using short = await startShortPages(minio.endpoint, 0);
    await using listing = minioStore({ ...minio, endpoint: short.endpoint });
    await expect(listing.list('media/', { limit: 1 })).rejects.toThrow('pages without an object');
  });
});
