import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

const versions = [1, 2] as const;

let system: Stack;
let photo: Buffer;
let large: Buffer;
beforeAll(async () => {
  system = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'probe-worker'] });
  photo = await samplePhoto('png', { width: 32, height: 32 });
  large = Buffer.concat([photo, Buffer.alloc(8 * 1024 * 1024)]);
});

// Those that freeze it may fail before they thaw it.
afterEach(() => system.services['probe-worker'].thaw());
afterAll(() => system?.[Symbol.asyncDispose]());

/** A gateway with these limits, before the one system. */
const gatewayWith = (settings: Record<string, string>) =>
  startStack({ beside: system, services: ['gateway'], settings });

type Gateway = Pick<Stack, 'gateway' | 'provider'>;

/** An upload of some 8 MiB that stops after its first half. */
async function halfSent(stack: Gateway, version: 1 | 2, media = large): Promise<RawClient> {
  const { path, headers, body } = uploadRequest(stack, { version, media });
  const client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  client.write(body.subarray(0, body.length / 2));
  return client;
}

/** The response to the head of an upload whose body waits: `100` where it may be sent. */
async function responseToHead(stack: Gateway, version: 1 | 2): Promise<string> {
  const { path, headers } = uploadRequest(stack, { version });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, { ...headers, Expect: '100-continue' }, 5_000_000);
  await waitUntil('a response', 10_000, async () => client.received.includes('\r\n\r\n'));
  if (client.received.startsWith('HTTP/1.1 100 ')) return '100';
  const { status, head, body } = await client.response();
  return `${status} ${JSON.parse(body).errors[0].reason} ${/\r\nretry-after: (\d+)/i.exec(head)?.[1]}`;
}

/** Resolves when so many uploads run, by the gateway's metrics. */
const running = (stack: Stack, uploads: number) =>
  waitUntil(`${uploads} uploads that run`, 10_000, async () => {
    const metrics = await (await fetch(`${stack.ops('gateway')}/metrics`)).text();
    return /^echodrop_uploads_in_flight\{[^}]*\} (\d+)/m.exec(metrics)?.[1] === `${uploads}`;
  });

describe('with slots', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS: '3' });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  test.each(versions)(
    'version %i: an upload beyond the slots is refused before its body is read; aborted ones give theirs back',
    async (version) => {
      for (let round = 0; round < 5; round += 1) {
        const halves = await Promise.all(Array.from({ length: 3 }, () => halfSent(stack, version)));
        await running(stack, 3);
        expect(await responseToHead(stack, version)).toBe('503 overloaded 5');
        for (const client of halves) client.destroy();
        await running(stack, 0);
      }
      const all = await Promise.all(Array.from({ length: 3 }, () => upload(stack, { version, media: photo })));
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    },
    60_000,
  );
});

test('a user with too many uploads at once is refused with 429 while the body is still coming, until one of them has ended', async () => {
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS_PER_USER: '2' });
  const waiting = (jobs: number) =>
    waitUntil(`${jobs} uploads that wait for their probe`, 10_000, async () => {
      return (await stack.redis.command('LLEN', '{echodrop}:probe-photos:wait')) === `${jobs}`;
    });
  await system.services['probe-worker'].freeze();
  const leaving = new AbortController();
  const left = upload(stack, { media: photo, signal: leaving.signal }).catch(() => 'left');
  const second = upload(stack, { version: 1, media: photo });
  await waiting(2);
  const refused = await (await halfSent(stack, 2)).response();
  expect(refused).toMatchObject({ status: 429, body: expect.stringContaining('"too_many_requests"') });
  expect(refused.head).toMatch(/\r\nretry-after: 5\r\n/i);
  expect((await upload(stack, { version: 1, media: photo })).status).toBe(429);
  leaving.abort();
  expect(await left).toBe('left');
  await waiting(1);
  // Its place is given back after its job.
  await running(stack, 1);
  const third = upload(stack, { media: photo });
  await waiting(2);
  await system.services['probe-worker'].thaw();
  expect([(await second).status, (await third).status]).toEqual([200, 200]);
}, 60_000);

test('two gateways count the uploads of a user together, in both versions', async () => {
  const limits = { UPLOADS_PER_MINUTE_PER_USER: '4' };
  await using first = await gatewayWith(limits);
  await using second = await gatewayWith(limits);
  const gateways = [first, second] as const;
  for (const version of versions) {
    for (const gateway of gateways) {
      expect((await upload(gateway, { version, media: photo })).status).toBe(200);
    }
  }
  for (const gateway of gateways) {
    const refused = await upload(gateway, { media: photo });
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('"too_many_requests"') });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  }
}, 60_000);

test('each API key has a rate, which refused users do not use up, and which is open while its Redis is frozen', async () => {
  await using limits = await startRedis();
  await using stack = await gatewayWith({
    API_KEYS: `one=${sandbox.apiKey},two=another-key`,
    CACHE_REDIS_URL: limits.url,
    UPLOADS_PER_MINUTE_PER_KEY: '2',
  });
  const send = async (key: string, version: 1 | 2, secret: string = sandbox.token.secret) => {
    const secrets = { consumer_token: sandbox.consumer.key, consumer_secret: sandbox.consumer.secret };
    const fields = { key, message: '', ...secrets, oauth_token: sandbox.token.key, oauth_secret: secret };
    const texts = Object.entries(fields).map(([name, content]) => ({ name, content }));
    const parts = [...texts, { name: 'media', filename: 'a.jpg', content: photo }];
    return (await upload(stack, { version, parts })).status;
  };
  expect(await send('unknown', 2)).toBe(401);
  // Knowing the key is not enough to use up its rate.
  for (let i = 0; i < 3; i += 1) expect(await send(sandbox.apiKey, 1, 'wrong')).toBe(401);
  expect(await send(sandbox.apiKey, 1)).toBe(200);
  expect(await send(sandbox.apiKey, 2)).toBe(200);
  expect(await send(sandbox.apiKey, 1)).toBe(429);
  expect(await send(sandbox.apiKey, 2)).toBe(429);
  expect(await send('another-key', 2)).toBe(200);
  await limits.freeze();
  expect(await send(sandbox.apiKey, 2)).toBe(200);
  await limits.thaw();
}, 60_000);

test.each(['photos', 'videos'] as const)(
  'while the queue of %s is too old these are refused by their first bytes, and others go on',
  async (queue) => {
    // The queue is too old after six of ten parts of it; a thawed worker may take another 3.5 s to notice its job.
    await using stack = await gatewayWith({ PROBE_TIMEOUT_MS: '15000' });
    const media = queue === 'photos' ? photo : await sampleVideo('mp4', { width: 64, height: 48 });
    const long = Buffer.concat([media, Buffer.alloc(8 * 1024 * 1024)]);
    await system.services['probe-worker'].freeze();
    const waiting = upload(stack, { media });
    await waitUntil('a refusal', 12_000, async () => {
      await using client = await halfSent(stack, 2, long);
      await waitUntil('an early response', 500, async () => client.received.includes('"overloaded"'));
      return true;
    });
    expect(await responseToHead(stack, 2)).toBe('100');
    expect((await upload(stack, { media: await samplePhoto('jpg', { width: 32, height: 32 }) })).status).toBe(200);
    await system.services['probe-worker'].thaw();
    expect((await waiting).status).toBe(200);
    await waitUntil('an accepted upload', 5000, async () => (await upload(stack, { media })).status === 200);
  },
  60_000,
);
