import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { uploadRequest, wrongEchoHeaders } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MiB = 1024 * 1024;

let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  media = await samplePhoto('jpg', { width: 32, height: 32 });
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

test('a client that waits for 100 Continue gets it, and then its record', async () => {
  const { path, headers, body } = uploadRequest(stack, { media });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, { ...headers, Expect: '100-continue' }, body.length);
  await waitUntil('100 Continue', 5000, async () => client.received.startsWith('HTTP/1.1 100 '));
  client.write(body);
  expect(await client.response()).toMatchObject({ status: 200 });
});

test.each([
  ['no credentials', 401, { 'X-Verify-Credentials-Authorization': '' }],
  ['an unknown provider', 401, { 'X-Auth-Service-Provider': 'https://example.org/' }],
])('with %s, a client that waits for 100 Continue is refused instead', async (_what, status, wrong) => {
  const { path, headers, body } = uploadRequest(stack, { media });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, { ...headers, ...wrong, Expect: '100-continue' }, body.length);
  expect(await client.response()).toMatchObject({ status });
  expect(client.received).not.toContain('HTTP/1.1 100');
});

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
  await waitUntil('the end of the connection', 5000, async () => client.closed);
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
  await waitUntil('a response', 10_000, async () => {
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
