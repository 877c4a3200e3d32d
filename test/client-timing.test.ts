import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '@echodrop/testkit/patience';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest, wrongEchoHeaders } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const KiB = 1024;
const MiB = 1024 * KiB;
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

test.each(['100-continue', ', 100-Continue'])(
  'a client that waits for "%s" gets it, and then its record',
  async (Expect) => {
    const { path, headers, body } = uploadRequest(stack, { media });
    await using client = await RawClient.connect(stack.gateway);
    client.head(path, { ...headers, Expect }, body.length);
    await waitUntil('100 Continue', async () => client.received.startsWith('HTTP/1.1 100 '));
    client.write(body);
    expect(await client.response()).toMatchObject({ status: 200 });
  },
);

test.each([
  ['no credentials', 2, 401, { 'X-Verify-Credentials-Authorization': '' }],
  ['an unknown provider', 2, 401, { 'X-Auth-Service-Provider': 'https://example.org/' }],
  ['a malformed Idempotency-Key', 1, 400, { 'Idempotency-Key': '""' }],
  ['a malformed Idempotency-Key', 2, 400, { 'Idempotency-Key': '""' }],
] as const)(
  'with %s (version %i), a client that waits for 100 Continue is refused instead',
  async (...[, version, status, wrong]) => {
    const { path, headers, body } = uploadRequest(stack, { version, media });
    await using client = await RawClient.connect(stack.gateway);
    client.head(path, { ...headers, ...wrong, Expect: '100-continue' }, body.length);
    expect(await client.response()).toMatchObject({ status });
    expect(client.received).not.toContain('HTTP/1.1 100');
  },
);

test('an unknown expectation is refused', async () => {
  await using client = await RawClient.connect(stack.gateway);
  client.head('/2/upload.json', { Expect: 'miracles' }, 10);
  expect(await client.response()).toMatchObject({ status: 417, body: expect.stringContaining('expectation_failed') });
});

test('a client gets its 401 while it is still sending, and the gateway reads its body before closing the connection', async () => {
  const { path, headers } = uploadRequest(stack, { media });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, { ...headers, ...wrongEchoHeaders(stack) }, 20 * MiB);
  client.write(Buffer.alloc(MiB));
  const response = await client.response();
  expect(response).toMatchObject({ status: 401, body: expect.stringContaining('credentials_refused') });
  expect(response.head).toMatch(/\r\nconnection: close/i);
  for (let sent = 1; sent < 20; sent++) await client.flush(Buffer.alloc(MiB));
  await waitUntil('the end of the connection', async () => client.closed);
  expect(client.bytesTaken).toBeGreaterThanOrEqual(20 * MiB);
});

test('a client that keeps sending after its refusal is disconnected', async () => {
  await using client = await RawClient.connect(stack.gateway);
  client.head('/2/upload.json', {});
  expect(await client.response()).toMatchObject({ status: 401 });
  const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MiB), Buffer.from('\r\n')]);
  for (let sent = 0; sent < 64 && !client.closed; sent++) await client.flush(piece);
  expect(client.closed).toBe(true);
});

test('before the verdict, little of the form is read and nothing reaches the store', async () => {
  const before = await stack.stored('media');
  await stack.services['sandbox-provider'].freeze();
  const { path, headers, body } = uploadRequest(stack, { media: Buffer.alloc(64 * MiB) });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  client.write(body);
  let taken = 0;
  await waitUntil('a response', async () => {
    if (client.received !== '') return true;
    taken = client.bytesTaken;
    expect(await stack.stored('media')).toEqual(before);
    return false;
  });
  // Unread bytes fill the kernel buffers of both sides.
  expect(taken).toBeLessThan(16 * MiB);
  const response = await client.response();
  expect(response).toMatchObject({ status: 401, body: expect.stringContaining('provider_unavailable') });
  expect(response.head).toMatch(/\r\nretry-after: \d+/i);
  await stack.services['sandbox-provider'].thaw();
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
});

describeWithMinio('500 dribbling clients', {}, (startMinio) => {
  test('do not prevent a normal upload', async () => {
    await using parts = new AsyncDisposableStack();
    const minio = parts.use(await startMinio());
    const busy = parts.use(
      await startStack({
        beside: stack,
        services: ['gateway'],
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
    // A response that waited for the others would take more than an hour.
    expect(performance.now() - started).toBeLessThan(patienceMs);
    dribbling.abort();
    await dribbled;
  });
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
