import { Readable } from 'node:stream';
import { fullRecipe, pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { minioStore } from '@echodrop/object-store/s3/minio-store.fixture';
import { type CountingProxy, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample } from './site.fixture.ts';

const MiB = 1024 * 1024;
const size = 96 * MiB;

// Every MiB begins with its number.
function* video(): Iterable<Buffer> {
  for (let n = 0; n < size / MiB; n += 1) {
    const part = Buffer.alloc(MiB);
    part.writeUInt32BE(n);
    yield part;
  }
}

describeWithMinio('a video of 96 MiB', {}, (startMinio) => {
  const resources = new AsyncDisposableStack();
  let proxy: CountingProxy;
  let stack: Stack;
  let path: string;

  beforeAll(async () => {
    const minio = resources.use(await startMinio());
    const store = resources.use(minioStore(minio));
    await store.ready();
    const mediaKey = newMediaKey();
    const id = await publishSample(store, Buffer.from('the video as it came'), { mediaKey, type: 'mov' });
    await store.put(renditionKey(mediaKey, videoRecipe), Readable.from(video()));
    for (const recipe of [pictureRecipes.large, fullRecipe('mov')])
      await store.put(renditionKey(mediaKey, recipe), Readable.from([Buffer.from('a poster')]));
    path = `/${id}.mp4`;
    proxy = resources.use(await startCountingProxy(minio.endpoint));
    const settings = { ...minio.settings, S3_ENDPOINT: proxy.endpoint };
    stack = resources.use(await startStack({ services: ['site'], settings }));
  });
  afterAll(() => resources.disposeAsync());

  /** The reads of the site from the store during `use`. */
  async function readDuring(use: () => Promise<void>): Promise<{ range: string | undefined; responseBytes: number }[]> {
    proxy.seen.length = 0;
    await use();
    return proxy.seen
      .filter(({ method, path: key }) => method === 'GET' && !key.includes('/records/'))
      .map(({ range, responseBytes }) => ({ range, responseBytes }));
  }

  function get(range: string, method = 'GET'): Promise<Response> {
    return fetch(`${stack.site}${path}`, { method, headers: { range } });
  }

  test('reads only the requested range from the store', async () => {
    const offset = 50 * MiB;
    const reads = await readDuring(async () => {
      const part = await get(`bytes=${offset}-${offset + 99}`);
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer()).readUInt32BE()).toBe(50);
    });
    expect(reads).toEqual([{ range: `bytes=${offset}-${offset + 99}`, responseBytes: 100 }]);
  });

  test('reads only the end for a suffix range', async () => {
    const reads = await readDuring(async () => {
      const part = await get(`bytes=-${MiB}`);
      expect(part.headers.get('content-range')).toBe(`bytes ${size - MiB}-${size - 1}/${size}`);
      expect(Buffer.from(await part.arrayBuffer()).readUInt32BE()).toBe(95);
    });
    expect(reads).toEqual([{ range: `bytes=${size - MiB}-${size - 1}`, responseBytes: MiB }]);
  });

  test('reads nothing for HEAD, 304 and 416', async () => {
    const reads = await readDuring(async () => {
      const head = await get('bytes=0-', 'HEAD');
      expect(head.headers.get('content-length')).toBe(String(size));
      const headers = { 'if-none-match': head.headers.get('etag') ?? '' };
      expect((await fetch(`${stack.site}${path}`, { headers })).status).toBe(304);
      expect((await get(`bytes=${size}-`)).status).toBe(416);
    });
    expect(reads).toEqual([]);
  });

  test('does not read ahead for a player that pauses and leaves', async () => {
    const reads = await readDuring(async () => {
      const going = new AbortController();
      const response = await fetch(`${stack.site}${path}`, { headers: { range: 'bytes=0-' }, signal: going.signal });
      expect(response.status).toBe(206);
      const reader = response.body?.getReader() ?? expect.fail('no body');
      await reader.read();
      // Bytes in flight end up in buffers.
      await expect.poll(isStill, { interval: 200 }).toBe(true);
      const open = await proxy.connections();
      going.abort();
      await expect.poll(() => proxy.connections()).toBeLessThan(open);
    });
    expect(reads).toEqual([{ range: `bytes=0-${size - 1}`, responseBytes: expect.any(Number) }]);
    expect(reads[0]?.responseBytes).toBeLessThan(size / 2);
  });

  test('never reads the original', async () => {
    proxy.seen.length = 0;
    const id = path.slice(1, -4);
    for (const address of [
      `/${id}`,
      `/${id}/player`,
      path,
      `/${id}.mov`,
      `/${id}.jpg`,
      `/show/full/${id}`,
      `/show/full/${id}.mov`,
    ])
      await (await fetch(`${stack.site}${address}`, { method: 'HEAD' })).arrayBuffer();
    await (await fetch(`${stack.site}/${id}`)).text();
    // Its existence is checked with a list.
    expect(proxy.seen.some(({ query }) => query.get('prefix')?.startsWith('media/'))).toBe(true);
    expect(proxy.seen.filter((request) => request.path.includes('/media/'))).toEqual([]);
  });

  let before = -1;
  async function isStill(): Promise<boolean> {
    const now = proxy.seen.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
    const still = now === before && now > 0;
    before = now;
    return still;
  }
});
