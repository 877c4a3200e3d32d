import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type SeenRequest, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

type UploadRequest = ReturnType<typeof uploadRequest>;

const queues = ['probe-photos', 'probe-films'];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'] });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

test('100 aborted uploads leave no socket, job or media', async () => {
  const photo = await samplePhoto('jpg', { width: 32, height: 32 });
  const large = Buffer.concat([photo, Buffer.alloc(12 * 1024 * 1024)]);
  await upload(stack, { media: photo });
  const before = await countOpenFiles();
  const cuts = Array.from({ length: 100 }, (_, i) => [0, 500, 200_000, large.length - 5][i % 4] ?? 0);
  for (const version of [1, 2] as const) {
    const request = uploadRequest(stack, { version, media: large });
    await Promise.all(
      cuts.slice(version === 1 ? 0 : 50, version === 1 ? 50 : 100).map((cut) => abortAfter(request, cut, stack)),
    );
  }
  await waitUntil('closed sockets', async () => (await countOpenFiles()) <= before);
  await waitUntil('removal of unpublished media', async () => (await stack.stored('media')).length === 1);
  for (const queue of queues) await waitUntil(`an empty ${queue}`, async () => (await countWaiting(queue)) === 0);
  expect((await upload(stack, { media: photo })).status).toBe(200);
});

const claims = () => stack.redis.command('KEYS', 'echodrop:idempotency:*');

test('if a client disconnects, its probe job is cancelled and its Idempotency-Key released', async () => {
  await stack.services['probe-worker'].freeze();
  const before = (await stack.stored('media')).length;
  const video = await sampleVideo('mp4', { width: 64, height: 48 });
  const repeated = { media: video, headers: { 'Idempotency-Key': '"left"' } };
  const { path, headers, body } = uploadRequest(stack, repeated);
  const client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  await client.flush(body);
  await waitUntil('a waiting job', async () => (await countWaiting('probe-films')) === 1);
  expect((await stack.stored('media')).length).toBe(before + 1);
  expect(await claims()).not.toBe('');
  client.destroy();
  await waitUntil('discarded media', async () => (await stack.stored('media')).length === before);
  await waitUntil('the end of the job', async () => (await countWaiting('probe-films')) === 0);
  await waitUntil('the release of the key', async () => (await claims()) === '');
  await stack.services['probe-worker'].thaw();
  expect((await upload(stack, repeated)).status).toBe(200);
});

describeWithMinio('100 aborted uploads', {}, (startMinio) => {
  test('leave nothing in MinIO: every multipart upload is aborted, and every object removed', async () => {
    await using minio = await startMinio();
    await using proxy = await startCountingProxy(minio.endpoint);
    await using system = await startStack({
      beside: stack,
      services: ['gateway'],
      settings: { ...minio.settings, S3_ENDPOINT: proxy.endpoint },
    });
    // Those of the gateway's probe of the store.
    proxy.seen.length = 0;
    const media = Buffer.concat([await samplePhoto('jpg', { width: 32, height: 32 }), Buffer.alloc(18 * 1024 * 1024)]);
    // Only every fifth upload ends after its first part, which takes longer.
    const inParts = [9_000_000, 17_000_000, media.length - 5];
    const inFirst = [500, 200_000];
    const cuts = Array.from({ length: 50 }, (_, i) => (i % 5 === 0 ? inParts[i % 3] : inFirst[i % 2]) ?? 0);
    for (const version of [1, 2] as const) {
      const request = uploadRequest(system, { version, media });
      await Promise.all(cuts.map((cut) => abortAfter(request, cut, system)));
    }
    const begun = () => proxy.seen.filter(({ method, query }) => method === 'POST' && query.has('uploads'));
    const ended = (uploads: SeenRequest[]) =>
      proxy.seen.filter((request) => {
        return request.method === 'DELETE' && uploads.some(({ path }) => path === request.path);
      });
    const whole = () =>
      proxy.seen.filter(
        ({ method, path, query }) => method === 'PUT' && path.includes('/media/') && !query.has('partNumber'),
      );
    const isOver = (uploads: SeenRequest[]) => ended(uploads).length >= uploads.length;
    await waitUntil('the end of every upload', async () => {
      return (await isIdle(system)) && begun().length > 10 && isOver(begun()) && isOver(whole());
    });
    expect(proxy.seen.filter(({ path }) => path.includes('/records/'))).toEqual([]);
  });
});

async function isIdle(stack: Stack): Promise<boolean> {
  const metrics = await stack.metrics('gateway');
  return Number(/^echodrop_uploads_in_flight\{[^}]*\} (\d+)/m.exec(metrics)?.[1]) === 0;
}

async function abortAfter({ path, headers, body }: UploadRequest, bytes: number, { gateway }: Stack): Promise<void> {
  const client = await RawClient.connect(gateway);
  client.head(path, headers, body.length);
  await client.flush(body.subarray(0, bytes));
  client.destroy();
}

async function countOpenFiles(): Promise<number> {
  const metrics = await stack.metrics('gateway');
  return Number(/^process_open_fds\{[^}]*\} (\d+)/m.exec(metrics)?.[1]);
}

async function countWaiting(queue: string): Promise<number> {
  return Number(await stack.redis.command('LLEN', `{echodrop}:${queue}:wait`));
}
