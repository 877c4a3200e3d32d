import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { MinioObjectStore } from '@echodrop/object-store/s3/minio-object-store';
import { Secret } from '@echodrop/service/secret';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishSample } from './publish-sample.fixture.ts';

// The site waits four seconds for a picture, the store's client about ten for the store.
const waitBound = 7000;
const storeBound = 25_000;

const photo = await samplePhoto('jpg', { width: 320, height: 240 });

async function timed(address: string): Promise<{ answer: Response; ms: number }> {
  const began = performance.now();
  const answer = await fetch(address);
  await answer.clone().arrayBuffer();
  return { answer, ms: performance.now() - began };
}

async function expectUnavailable(address: string, boundMs: number): Promise<void> {
  const { answer, ms } = await timed(address);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('5');
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-cache');
  expect(ms).toBeLessThan(boundMs);
}

async function expectSoon(address: string, status: number): Promise<void> {
  await expect.poll(async () => (await fetch(address)).status, { timeout: 20_000 }).toBe(status);
}

describe('the worker or Redis is away', () => {
  const parts = new AsyncDisposableStack();
  let store: FilesystemObjectStore;
  let stack: Stack;

  beforeAll(async () => {
    const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
    store = parts.use(new FilesystemObjectStore(path));
    stack = parts.use(
      await startStack({ services: ['site', 'rendition-worker'], settings: { OBJECT_STORE_DIR: path } }),
    );
  });
  afterAll(() => parts.disposeAsync());

  test('without a worker, a new picture is not ready, and its page says so', async () => {
    await stack.services['rendition-worker'].kill();
    const id = await publishSample(store, photo);
    await expectUnavailable(`${stack.site}/${id}/large.jpg`, waitBound);
    const { answer, ms } = await timed(`${stack.site}/${id}`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('This picture is still being processed.');
    expect(ms).toBeLessThan(waitBound);

    await stack.services['rendition-worker'].restart();
    await expectSoon(`${stack.site}/${id}/large.jpg`, 200);
  });

  const troubles = [
    ['down', () => stack.redis.kill(), () => stack.redis.restart()],
    ['hanging', () => stack.redis.freeze(), () => stack.redis.thaw()],
  ] as const;

  test.each(troubles)(
    'with Redis %s, what was made is shown, and what was not is not ready',
    async (_, begin, end) => {
      const made = await publishSample(store, photo);
      await expectSoon(`${stack.site}/${made}/large.jpg`, 200);
      const missing = await publishSample(store, photo);

      await begin();
      await expectUnavailable(`${stack.site}/${missing}/large.jpg`, waitBound);
      expect((await timed(`${stack.site}/${made}/large.jpg`)).answer.status).toBe(200);
      expect((await timed(`${stack.site}/${made}`)).answer.status).toBe(200);

      await end();
      await expectSoon(`${stack.site}/${missing}/large.jpg`, 200);
    },
    60_000,
  );
});

describeWithMinio('the store is away', { stoppable: true }, (startMinio) => {
  const troubles = ['kill', 'freeze'] as const;

  test.each(troubles)(
    '%s: pages and pictures are unavailable until it is back',
    async (trouble) => {
      await using minio = await startMinio();
      await using stack = await startStack({ services: ['site', 'rendition-worker'], settings: minio.settings });
      const { endpoint, region, bucket, accessKey, secretKey, server } = minio;
      await using store = new MinioObjectStore({
        ...{ endpoint, region, bucket },
        accessKey: new Secret(accessKey),
        secretKey: new Secret(secretKey),
      });
      await store.ready();
      const id = await publishSample(store, photo);
      await expectSoon(`${stack.site}/${id}/large.jpg`, 200);

      await server?.[trouble]();
      await expectUnavailable(`${stack.site}/${id}`, storeBound);
      await expectUnavailable(`${stack.site}/${id}/large.jpg`, storeBound);

      await (trouble === 'freeze' ? server?.thaw() : server?.restart());
      await expectSoon(`${stack.site}/${id}/large.jpg`, 200);
      await expectSoon(`${stack.site}/${id}`, 200);
    },
    120_000,
  );
});
