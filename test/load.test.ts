import { anotherUser } from '@echodrop/testkit/another-user';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitForUploads } from '@echodrop/testkit/wait-for-uploads';
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

// A test that freezes it may fail before thawing it.
afterEach(() => system.services['probe-worker'].thaw());
afterAll(() => system?.[Symbol.asyncDispose]());

const gatewayWith = (settings: Record<string, string>) =>
  startStack({ beside: system, services: ['gateway'], settings });

type Gateway = Pick<Stack, 'gateway' | 'provider'>;

/** Sends the first half of an upload of 8 MiB. */
async function sendHalf(stack: Gateway, version: 1 | 2, options: UploadOptions = {}): Promise<RawClient> {
  const { path, headers, body } = uploadRequest(stack, { version, media: large, ...options });
  const client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  client.write(body.subarray(0, body.length / 2));
  return client;
}

/** The response to `Expect: 100-continue`. */
async function responseToHead(stack: Gateway, version: 1 | 2, from = '192.0.2.1'): Promise<string> {
  const { path, headers } = uploadRequest(stack, { version, headers: { 'X-Forwarded-For': from } });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, { ...headers, Expect: '100-continue' }, 5_000_000);
  await waitUntil('a response', async () => client.received.includes('\r\n\r\n'));
  if (client.received.startsWith('HTTP/1.1 100 ')) return '100';
  const { status, head, body } = await client.response();
  return `${status} ${JSON.parse(body).errors[0].reason} ${/\r\nretry-after: (\d+)/i.exec(head)?.[1]}`;
}

/** Makes the one job of a queue an hour old, and waits until the gateway has read its age. */
async function ageJob({ redis, metrics }: Stack, queue: string): Promise<void> {
  let id = '';
  await waitUntil('a waiting job', async () => {
    id = await redis.command('LINDEX', `{echodrop}:${queue}:wait`, '0');
    return id !== '';
  });
  await redis.command('HSET', `{echodrop}:${queue}:${id}`, 'timestamp', `${Date.now() - 3_600_000}`);
  const age = new RegExp(`^echodrop_queue_oldest_job_age_seconds\\{[^}]*queue="${queue}"[^}]*\\} (\\d+)`, 'm');
  await waitUntil('an old job', async () => Number(age.exec(await metrics('gateway'))?.[1]) > 1000);
}

describe('with slots', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS: '3', TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  /** Of two users, because one gets no more than two slots; of three addresses, because version 1 is anonymous and one gets a tenth. */
  const threeUploads = (version: 1 | 2) =>
    [
      { version, headers: { 'X-Forwarded-For': '192.0.2.1' } },
      { version, headers: { 'X-Forwarded-For': '192.0.2.4' } },
      { version: 2, headers: { 'X-Forwarded-For': '192.0.2.2', ...anotherUser(stack) } },
    ] as const;

  test.each(versions)(
    'version %i: an upload is refused before its body is read if no slot is free; aborted uploads free their slots',
    async (version) => {
      for (let round = 0; round < 5; round += 1) {
        const halves = await Promise.all(threeUploads(version).map((each) => sendHalf(stack, each.version, each)));
        await waitForUploads(stack, 3);
        expect(await responseToHead(stack, version, '192.0.2.3')).toBe('503 overloaded 5');
        for (const client of halves) client.destroy();
        await waitForUploads(stack, 0);
      }
      const all = await Promise.all(threeUploads(version).map((each) => upload(stack, { ...each, media: photo })));
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    },
  );
});

test('a user with too many concurrent uploads is refused with 429 before the body is complete, until one ends', async () => {
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS_PER_USER: '2' });
  const waitForJobs = (jobs: number) =>
    waitUntil(`${jobs} waiting probe jobs`, async () => {
      return (await stack.redis.command('LLEN', '{echodrop}:probe-photos:wait')) === `${jobs}`;
    });
  await system.services['probe-worker'].freeze();
  const leaving = new AbortController();
  const left = upload(stack, { media: photo, signal: leaving.signal }).catch(() => 'left');
  const second = upload(stack, { version: 1, media: photo });
  await waitForJobs(2);
  const refused = await (await sendHalf(stack, 2)).response();
  expect(refused).toMatchObject({ status: 429, body: expect.stringContaining('"too_many_requests"') });
  expect(refused.head).toMatch(/\r\nretry-after: 5\r\n/i);
  expect((await upload(stack, { version: 1, media: photo })).status).toBe(429);
  leaving.abort();
  expect(await left).toBe('left');
  await waitForJobs(1);
  // The upload ends after its job is removed.
  await waitForUploads(stack, 1);
  const third = upload(stack, { media: photo });
  await waitForJobs(2);
  await system.services['probe-worker'].thaw();
  expect([(await second).status, (await third).status]).toEqual([200, 200]);
});

test('each API key has a rate; refused users do not count, and it is not enforced while its Redis hangs', async () => {
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
  // Knowing the key alone must not exhaust its rate.
  for (let i = 0; i < 3; i += 1) expect(await send(sandbox.apiKey, 1, 'wrong')).toBe(401);
  expect(await send(sandbox.apiKey, 1)).toBe(200);
  expect(await send(sandbox.apiKey, 2)).toBe(200);
  expect(await send(sandbox.apiKey, 1)).toBe(429);
  expect(await send(sandbox.apiKey, 2)).toBe(429);
  expect(await send('another-key', 2)).toBe(200);
  await limits.freeze();
  expect(await send(sandbox.apiKey, 2)).toBe(200);
  await limits.thaw();
});

test.each(['photos', 'videos'] as const)(
  'while the queue of %s is overloaded, their uploads are refused at the first bytes, and others succeed',
  async (queue) => {
    await using stack = await gatewayWith({});
    const media = queue === 'photos' ? photo : await sampleVideo('mp4', { width: 64, height: 48 });
    const other = await samplePhoto('jpg', { width: 32, height: 32 });
    const long = Buffer.concat([media, Buffer.alloc(8 * 1024 * 1024)]);
    await system.services['probe-worker'].freeze();
    const waiting = upload(stack, { media });
    await ageJob(stack, queue === 'photos' ? 'probe-photos' : 'probe-films');
    await using refused = await sendHalf(stack, 2, { media: long });
    expect(await refused.response()).toMatchObject({ status: 503, body: expect.stringContaining('"overloaded"') });
    expect(await responseToHead(stack, 2)).toBe('100');
    expect((await upload(stack, { media: other })).status).toBe(200);
    await system.services['probe-worker'].thaw();
    expect((await waiting).status).toBe(200);
    await waitUntil('an accepted upload', async () => (await upload(stack, { media })).status === 200);
  },
);
