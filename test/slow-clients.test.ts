import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const KiB = 1024;
const dribblers = 500;

let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  media = await samplePhoto('jpg', { width: 32, height: 32 });
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

test('a slow upload above the minimum rate succeeds, even if it takes longer than every internal timeout', async () => {
  const { path, headers, body } = uploadRequest(stack, { media: Buffer.concat([media, Buffer.alloc(300 * KiB)]) });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  // 12 seconds: longer than the timeouts of verification, store and provider.
  const piece = Math.ceil(body.length / 24);
  for (let at = 0; at < body.length; at += piece) {
    await client.flush(body.subarray(at, at + piece));
    await sleep(500);
  }
  expect(await client.response()).toMatchObject({ status: 200 });
}, 40_000);

describeWithMinio('500 dribbling clients', {}, (startMinio) => {
  test('do not prevent a normal upload', async () => {
    await using parts = new AsyncDisposableStack();
    const minio = parts.use(await startMinio());
    const busy = parts.use(
      await startStack({
        services: ['sandbox-provider', 'auth-verifier', 'gateway'],
        settings: { ...minio.settings, MAX_CONCURRENT_UPLOADS_PER_USER: '1000' },
      }),
    );
    const { path, headers, body } = uploadRequest(busy, { media: Buffer.concat([media, Buffer.alloc(9_000 * KiB)]) });
    const clients = await Promise.all(
      Array.from({ length: dribblers }, async () => parts.use(await RawClient.connect(busy.gateway))),
    );
    for (const client of clients) {
      client.head(path, headers, body.length);
      client.write(body.subarray(0, 40 * KiB));
    }
    const dribbling = new AbortController();
    const dribbled = (async () => {
      for (let at = 40 * KiB; !dribbling.signal.aborted; at += 1500) {
        for (const client of clients) client.write(body.subarray(at, at + 1500));
        await sleep(1000);
      }
    })();
    const started = performance.now();
    for (let i = 0; i < 5; i++) expect((await upload(busy, { media })).status).toBe(200);
    const large = Buffer.concat([media, Buffer.alloc(20_000 * KiB)]);
    expect((await upload(busy, { media: large })).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(15_000);
    dribbling.abort();
    await dribbled;
  }, 60_000);
});

test('a client that stalls gets 408', async () => {
  const settings = { MAX_UPLOAD_SECONDS: '1' };
  await using quick = await startStack({ beside: stack, services: ['gateway'], settings });
  const { path, headers, body } = uploadRequest(quick, { media });
  await using client = await RawClient.connect(quick.gateway);
  client.head(path, headers, body.length);
  client.write(body.subarray(0, 300));
  expect(await client.response()).toMatchObject({ status: 408, body: expect.stringContaining('"too_slow"') });
});
