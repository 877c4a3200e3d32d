import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { s3ObjectStore } from '@echodrop/object-store/s3/s3-object-store';
import { Secret } from '@echodrop/service/secret';
import { patientSignal } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishSample, startSite } from './site.fixture.ts';

const photo = await samplePhoto('jpg', { width: 320, height: 240 });

/** Fails if the site waits for a dependency that does not return. */
async function get(address: string): Promise<Response> {
  return fetch(address, { signal: patientSignal() });
}

async function expectUnavailable(address: string): Promise<void> {
  const response = await get(address);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('5');
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-cache');
}

async function expectSoon(address: string, status: number): Promise<void> {
  await expect.poll(async () => (await get(address)).status).toBe(status);
}

describe('without the worker or Redis', () => {
  const resources = new AsyncDisposableStack();
  let store: FilesystemObjectStore;
  let stack: Stack;

  beforeAll(async () => {
    ({ stack, store } = await startSite(resources));
  });
  afterAll(() => resources.disposeAsync());

  test('without a worker, a new picture is not ready and its page reports it', async () => {
    await stack.services['rendition-worker'].kill();
    const id = await publishSample(store, photo);
    const [response] = await Promise.all([
      get(`${stack.site}/${id}`),
      expectUnavailable(`${stack.site}/${id}/large.jpg`),
    ]);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('This picture is still being processed.');

    await stack.services['rendition-worker'].restart();
    await expectSoon(`${stack.site}/${id}/large.jpg`, 200);
  });

  const faults = [
    ['down', () => stack.redis.kill(), () => stack.redis.restart()],
    ['hanging', () => stack.redis.freeze(), () => stack.redis.thaw()],
  ] as const;

  test.each(faults)('with Redis %s, existing renditions are shown and others are not ready', async (_, begin, end) => {
    const existing = await publishSample(store, photo);
    await expectSoon(`${stack.site}/${existing}/large.jpg`, 200);
    const missing = await publishSample(store, photo);

    await begin();
    await expectUnavailable(`${stack.site}/${missing}/large.jpg`);
    expect((await get(`${stack.site}/${existing}/large.jpg`)).status).toBe(200);
    expect((await get(`${stack.site}/${existing}`)).status).toBe(200);

    await end();
    await expectSoon(`${stack.site}/${missing}/large.jpg`, 200);
  });
});

describeWithMinio('without the store', { stoppable: true }, (startMinio) => {
  const resources = new AsyncDisposableStack();
  let minio: RunningMinio;
  let stack: Stack;
  let id: string;

  beforeAll(async () => {
    minio = resources.use(await startMinio());
    stack = resources.use(await startStack({ services: ['site', 'rendition-worker'], settings: minio.settings }));
    const { endpoint, region, bucket, accessKey, secretKey } = minio;
    await using store = s3ObjectStore({
      endpoint,
      region,
      bucket,
      accessKey: new Secret(accessKey),
      secretKey: new Secret(secretKey),
    });
    await store.ready();
    id = await publishSample(store, photo);
  });
  afterAll(() => resources.disposeAsync());

  test.each(['kill', 'freeze'] as const)('%s: pages and pictures are unavailable until it returns', async (fault) => {
    const paths = [`/${id}`, `/${id}/large.jpg`];
    for (const path of paths) await expectSoon(`${stack.site}${path}`, 200);

    await minio.server?.[fault]();
    const unavailable = async (path: string) => {
      // At first from memory.
      await expectSoon(`${stack.site}${path}`, 503);
      await expectUnavailable(`${stack.site}${path}`);
    };
    await Promise.all(paths.map(unavailable));

    await (fault === 'freeze' ? minio.server?.thaw() : minio.server?.restart());
    for (const path of paths) await expectSoon(`${stack.site}${path}`, 200);
  });
});
