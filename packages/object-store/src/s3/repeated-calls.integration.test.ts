import { Readable } from 'node:stream';
import { type Fate, type SeenRequest, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { listObjects } from '../list-objects.ts';
import type { ObjectStore } from '../object-store.ts';
import { minioStore } from './minio-store.fixture.ts';

const key = 'media/a';

/** What each call does, and which of its requests fails once. */
const calls: [string, (request: SeenRequest) => boolean, (store: ObjectStore) => Promise<unknown>][] = [
  ['remove', ({ method }) => method === 'DELETE', (store) => store.remove(key)],
  [
    'list',
    ({ method, query }) => method === 'GET' && query.has('list-type'),
    (store) => store.list('media/', { limit: 9 }),
  ],
  [
    'abortWrite',
    ({ method, query }) => method === 'DELETE' && query.has('uploadId'),
    (store) => store.abortWrite({ key, id: 'none', writtenAt: new Date() }),
  ],
  [
    'listUnfinishedWrites',
    ({ method, query }) => method === 'GET' && query.has('uploads'),
    (store) => Array.fromAsync(store.listUnfinishedWrites()),
  ],
  ['ready', ({ method }) => method === 'HEAD', (store) => store.ready()],
];

const fates: [string, Fate][] = [
  ['gets no response', 'lost'],
  [
    'arrives at a store that is starting',
    { status: 503, body: '<Error><Code>XMinioServerNotInitialized</Code></Error>' },
  ],
];

describeWithMinio('a call whose first request', {}, (start) => {
  test.each(fates.flatMap((fate) => calls.map((call) => [...fate, ...call] as const)))(
    '%s is repeated: %s',
    async (_, fate, __, isOf, call) => {
      await using minio = await start();
      let failures = 0;
      await using proxy = await startCountingProxy(minio.endpoint, (request) =>
        isOf(request) && failures++ === 0 ? fate : 'passes',
      );
      await using direct = minioStore(minio);
      await direct.ready();
      await direct.put(key, Readable.from([Buffer.from('a')]));
      await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
      await call(store);
      expect(failures).toBe(2);
    },
  );
});

describeWithMinio('a write that the store refuses at first', {}, (start) => {
  const confirming = ({ method, length }: SeenRequest) => method === 'PUT' && length === '0';

  test.each([
    [409, 'ConditionalRequestConflict'],
    [429, 'TooManyRequests'],
  ])('with %i is confirmed without the tag that AWS does not send', async (status, code) => {
    await using minio = await start();
    let confirmations = 0;
    await using proxy = await startCountingProxy(minio.endpoint, (request) => {
      if (!confirming(request)) return 'passes';
      confirmations += 1;
      const [is, says] = confirmations === 1 ? [status, code] : [412, 'PreconditionFailed'];
      return { status: is, body: `<Error><Code>${says}</Code></Error>` };
    });
    await using direct = minioStore(minio);
    await direct.ready();
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    expect((await store.put(key, Readable.from([Buffer.from('a')]))).size).toBe(1);
    expect(confirmations).toBe(2);
  });
});

describeWithMinio('a non-strict process', {}, (start) => {
  test('writes again what changed once on the way', async () => {
    await using minio = await start();
    let writes = 0;
    await using proxy = await startCountingProxy(minio.endpoint, ({ method }) =>
      method === 'PUT' && writes++ === 0 ? 'changed' : 'passes',
    );
    await using direct = minioStore(minio);
    await direct.ready();
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint });
    expect(await store.putIfAbsent('records/a.json', Buffer.from('{"a":1}'))).toBe('created');
    expect(writes).toBe(2);
  });
});

describeWithMinio('a key of another application', {}, (start) => {
  test('is listed as it is, and can be removed', async () => {
    await using minio = await start();
    await using store = minioStore(minio);
    await store.ready();
    const keys = ['a b+c%2F&amp;<x>', '\u001b[31m\u009b\u202e', 'é/"\'`$', '(a)!*~', '..a'].map(
      (name) => `media/${name}`,
    );
    const { Client } = await import('minio');
    const { hostname, port } = new URL(minio.endpoint);
    const { accessKey, secretKey, region } = minio;
    const client = new Client({ endPoint: hostname, port: Number(port), useSSL: false, region, accessKey, secretKey });
    for (const each of keys) await client.putObject(minio.bucket, each, 'x');
    expect(await Array.fromAsync(listObjects(store, 'media/'), ({ key: each }) => each)).toEqual(
      keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    for (const each of keys) await store.remove(each);
    expect(await store.list('media/', { limit: 1 })).toEqual([]);
  });
});
