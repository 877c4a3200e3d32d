import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const hourMs = 60 * 60 * 1000;

let stack: Stack;
let other: Stack;
let photo: Buffer;

beforeAll(async () => {
  photo = await samplePhoto('png', { width: 32, height: 32 });
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'] });
  other = await startStack({ beside: stack, services: ['gateway'] });
});
afterAll(async () => {
  await other?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const first = () => stack;
const second = () => ({ gateway: other.gateway, provider: stack.provider });
type Gateway = Pick<Stack, 'gateway' | 'provider'>;

const send = (key: string, options: UploadOptions = {}, to: Gateway = first()) =>
  upload(to, { media: photo, ...options, headers: { 'Idempotency-Key': key, ...options.headers } });
const records = async () => (await stack.stored('records')).length;
const media = async () => (await stack.stored('media')).length;

test('a repeat gets the same response from either gateway in any version and format, and publishes nothing', async () => {
  const before = await records();
  const response = await send('"repeated"');
  expect(response.status).toBe(200);
  for (const options of [{}, { version: 1 }] as const) {
    for (const gateway of [first(), second()]) {
      expect(await send('"repeated"', options, gateway)).toMatchObject({ status: 200, text: response.text });
    }
  }
  const xml = await send('repeated', { format: 'xml' });
  expect(xml).toMatchObject({ status: 200, text: expect.stringContaining(`<id>${JSON.parse(response.text).id}</id>`) });
  expect(await records()).toBe(before + 1);
  expect(await media()).toBe(await records());
});

test('without a key or with a new one, the same upload is published again', async () => {
  const before = await records();
  const unkeyed = () => upload(stack, { media: photo });
  for (const response of [await unkeyed(), await unkeyed(), await send('"one"'), await send('"two"')]) {
    expect(response.status).toBe(200);
  }
  expect(await records()).toBe(before + 4);
});

test('a key reused with another message or media is refused with 422', async () => {
  await send('"reused"');
  const other = await samplePhoto('png', { width: 8, height: 8 });
  for (const change of [{ message: 'another' }, { media: other }, { media: other, version: 1 }] as const) {
    expect(await send('"reused"', change)).toMatchObject({
      status: 422,
      text: expect.stringContaining('"idempotency_key_reused"'),
    });
  }
});

test.each(versionsAndKeys())(
  'version %i: the malformed key %s is refused with 400 before the body is read',
  async (version, key) => {
    const { path, headers } = uploadRequest(stack, { version });
    await using client = await RawClient.connect(stack.gateway);
    client.head(path, { ...headers, 'Idempotency-Key': key, Expect: '100-continue' }, 5_000_000);
    expect(await client.response()).toMatchObject({
      status: 400,
      body: expect.stringContaining('"idempotency_key_malformed"'),
    });
    expect(client.received).not.toContain('100 Continue');
  },
);

test('a repeat is refused with 409 while the first attempt runs, and then gets its record', async () => {
  await stack.services['probe-worker'].freeze();
  const claimsBefore = await claims();
  const running = send('"running"');
  await waitUntil('a claim', async () => (await claims()).length > claimsBefore.length);
  const repeat = await send('"running"', {}, second());
  expect(repeat).toMatchObject({ status: 409, text: expect.stringContaining('"idempotency_key_in_use"') });
  expect(Number(repeat.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await send('"running"', { message: 'another' })).status).toBe(422);
  await stack.services['probe-worker'].thaw();
  const { status, text } = await running;
  expect(status).toBe(200);
  expect((await send('"running"', {}, second())).text).toBe(text);
});

test('exactly one of many concurrent repeats on two gateways is published', async () => {
  const before = await records();
  const all = await Promise.all(
    Array.from({ length: 16 }, (_, i) => send('"at once"', { version: i % 3 ? 2 : 1 }, i % 2 ? first() : second())),
  );
  expect(new Set(all.map(({ status }) => status)).difference(new Set([200, 409])).size).toBe(0);
  expect(new Set(all.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
  expect(await records()).toBe(before + 1);
  await waitUntil('removal of the other media', async () => (await media()) === before + 1);
});

test('a refused upload releases its key', async () => {
  expect((await send('"refused"', { media: Buffer.from('no photo') })).status).toBe(415);
  expect((await send('"refused"')).status).toBe(200);
});

test('an upload whose client disconnects before the commit releases its key', async () => {
  await stack.services['probe-worker'].freeze();
  const claimsBefore = await claims();
  const leaving = new AbortController();
  const left = send('"left"', { signal: leaving.signal }).catch(() => 'no response');
  await waitUntil('a claim', async () => (await claims()).length > claimsBefore.length);
  leaving.abort();
  expect(await left).toBe('no response');
  await waitUntil('the release of the key', async () => (await claims()).length === claimsBefore.length);
  await stack.services['probe-worker'].thaw();
  expect((await send('"left"')).status).toBe(200);
});

test('the claim of a killed gateway stays until no gateway can still be working on it', async () => {
  await stack.services['probe-worker'].freeze();
  const before = await records();
  const claimsBefore = await claims();
  const lost = send('"killed"', {}, second()).catch(() => 'no response');
  await waitUntil('a claim', async () => (await claims()).length > claimsBefore.length);
  await other.services.gateway.kill();
  expect(await lost).toBe('no response');
  await other.services.gateway.restart();
  await stack.services['probe-worker'].thaw();
  expect((await send('"killed"', {}, second())).status).toBe(409);
  // Simulates that an hour has passed: more than the maximum time until publication.
  for (const claim of await claims()) await stack.redis.command('PEXPIRE', claim, `${23 * hourMs}`);
  const responses = [await send('"killed"'), await send('"killed"', {}, second())];
  expect(responses).toMatchObject([{ status: 200 }, { status: 200, text: responses[0]?.text }]);
  expect(await records()).toBe(before + 1);
});

async function claims(): Promise<string[]> {
  return (await stack.redis.command('KEYS', 'echodrop:idempotency:*')).split('\n').filter(Boolean);
}

function versionsAndKeys(): [version: 1 | 2, key: string][] {
  return [
    [1, '""'],
    [2, '"not closed'],
    [2, 'k'.repeat(256)],
  ];
}
