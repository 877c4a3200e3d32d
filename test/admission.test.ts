import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { anotherUser } from '@echodrop/testkit/another-user';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, secretParts, type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitForUploads } from '@echodrop/testkit/wait-for-uploads';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const KiB = 1024;
const MiB = 1024 * KiB;
let system: Stack;
let photo: Buffer;
beforeAll(async () => {
  system = await startStack({ services: ['sandbox-provider', 'auth-verifier'] });
  photo = await samplePhoto('jpg', { width: 32, height: 32 });
});
afterAll(() => system?.[Symbol.asyncDispose]());

const key = { name: 'key', content: sandbox.apiKey };
const message = { name: 'message', content: '' };
const file = (content: Buffer) => ({ name: 'media', filename: 'a.jpg', content });
const wrongSecrets = secretParts.map((part) => (part.name === 'oauth_secret' ? { ...part, content: 'wrong' } : part));
const gatewayWith = (settings: Record<string, string>) =>
  startStack({ beside: system, services: ['gateway'], settings });

/**
 * Sends an upload (version 1 by default) without the end of its last part. From then on it sends a byte every five seconds, because a gateway
 * refuses a client that is silent for 30.
 */
async function beginUpload(stack: Stack, options: UploadOptions): Promise<AsyncDisposable> {
  const { path, headers, body } = uploadRequest(stack, { version: 1, ...options });
  await using parts = new AsyncDisposableStack();
  const client = parts.use(await RawClient.connect(stack.gateway));
  client.head(path, headers, body.length + 10_000);
  await client.flush(body.subarray(0, body.lastIndexOf('\r\n--')));
  const sending = setInterval(() => client.write('x'), 5000);
  parts.defer(() => clearInterval(sending));
  return parts.move();
}

/**
 * @returns a function that waits until the gateway has refused this number of uploads, counted from now, or knows the verdicts on their callers.
 * Nothing else may be verified meanwhile, and the uploads must begin one by one, because simultaneous ones share a verification.
 */
async function countDecided(stack: Stack): Promise<(uploads: number) => Promise<void>> {
  const count = async () => {
    const verifier = await system.metrics('auth-verifier');
    const gateway = await stack.metrics('gateway');
    const series = `${verifier}${gateway}`.matchAll(/^echodrop_(?:verifications|admission_refused)_total{.*} (\d+)$/gm);
    return [...series].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const before = await count();
  let lists = 0;
  return async (uploads) => {
    await waitUntil(`${uploads} decisions`, async () => (await count()) - before === uploads + lists);
    // Its verdict reaches the gateway after those on the uploads.
    expect((await fetch(`${stack.gateway}/2/media.json`, { headers: echoHeaders(stack) })).status).toBe(200);
    lists += 1;
  };
}

/** Bytes of all files in the store, including files still being written. */
async function storedBytes({ folder }: Stack): Promise<number> {
  const files = await readdir(join(folder, 'store'), { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = files
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** @returns by how many bytes at most the store grew while `during` ran */
async function watchStore(stack: Stack, during: () => Promise<void>): Promise<number> {
  const before = await storedBytes(stack);
  let maxGained = 0;
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      maxGained = Math.max(maxGained, (await storedBytes(stack)) - before);
      await sleep(30);
    }
  })();
  await during();
  over.abort();
  await watching;
  return maxGained;
}

test('1000 anonymous uploads from one address do not block uploads, lists and deletions from another', async () => {
  await using stack = await gatewayWith({ TRUSTED_PROXIES: '127.0.0.1' });
  await using crowd = new AsyncDisposableStack();
  const from = (address: string) => ({ 'X-Forwarded-For': address });
  for (let opened = 0; opened < 1000; opened += 100) {
    const clients = Array.from({ length: 100 }, (_, n) => {
      const headers = from(n % 2 ? '2001:db8::bad' : `2001:db8::${n}:bad`);
      return beginUpload(stack, { parts: [key, file(photo)], headers });
    });
    for (const client of await Promise.all(clients)) crowd.use(client);
  }
  await waitForUploads(stack, 100);
  const normal = { media: photo, headers: from('192.0.2.1') };
  for (let n = 0; n < 10; n += 1) {
    expect((await upload(stack, { ...normal, version: 1 })).status).toBe(200);
    expect((await upload(stack, { ...normal, version: 2 })).status).toBe(200);
  }
  const { id } = JSON.parse((await upload(stack, normal)).text);
  const headers = { ...echoHeaders(stack), ...from('192.0.2.1') };
  expect((await fetch(`${stack.gateway}/2/media.json`, { headers })).status).toBe(200);
  expect((await fetch(`${stack.gateway}/2/media/${id}`, { method: 'DELETE', headers })).status).toBe(204);
  const refused = await upload(stack, { version: 1, media: photo, headers: from('2001:db8::1') });
  expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('"too_many_requests"') });
  expect(refused.headers.get('retry-after')).toBe('5');
});

test('uploads with refused secrets count as anonymous while they run', async () => {
  await using stack = await gatewayWith({
    MAX_CONCURRENT_UPLOADS: '16',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  await using crowd = new AsyncDisposableStack();
  const decided = await countDecided(stack);
  for (let host = 1; host <= 6; host += 1) {
    const headers = { 'X-Forwarded-For': `192.0.2.${100 + (host % 2)}` };
    for (let n = 1; n <= 2; n += 1) {
      crowd.use(await beginUpload(stack, { parts: [key, ...wrongSecrets, message, file(photo)], headers }));
      await decided(2 * (host - 1) + n);
    }
  }
  const normal = await upload(stack, { version: 2, media: photo, headers: { 'X-Forwarded-For': '192.0.2.1' } });
  expect(normal.status).toBe(200);
});

test('uploads above the limit of their user count as anonymous while they run', async () => {
  await using stack = await gatewayWith({
    MAX_CONCURRENT_UPLOADS: '16',
    MAX_CONCURRENT_UPLOADS_PER_USER: '1',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  await using crowd = new AsyncDisposableStack();
  const headers = { 'X-Forwarded-For': '192.0.2.66' };
  const decided = await countDecided(stack);
  for (let n = 1; n <= 20; n += 1) {
    crowd.use(await beginUpload(stack, { parts: [key, ...secretParts, message, file(photo)], headers }));
    await decided(n);
  }
  const normal = { media: photo, headers: { 'X-Forwarded-For': '192.0.2.1', ...anotherUser(stack) } };
  expect((await upload(stack, { version: 2, ...normal })).status).toBe(200);
});

test('made-up tokens of two addresses do not block others while a provider is slow', async () => {
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS: '24', TRUSTED_PROXIES: '127.0.0.1' });
  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const known = { ...anotherUser(stack), ...from('192.0.2.1') };
  expect((await upload(stack, { media: photo, headers: known })).status).toBe(200);
  await system.services['sandbox-provider'].freeze();
  try {
    await using crowd = new AsyncDisposableStack();
    for (const [address, running] of [
      ['192.0.2.66', 13],
      ['192.0.2.67', 19],
    ] as const) {
      for (let n = 0; n < 24; n += 1) {
        const madeUp = { ...anotherUser(stack), 'X-Verify-Credentials-Authorization': `Bearer ${address}-${n}` };
        const headers = { ...uploadRequest(stack).headers, ...madeUp, ...from(address) };
        crowd.use(await RawClient.connect(stack.gateway)).head('/2/upload.json', headers, 99);
      }
      await waitForUploads(stack, running);
    }
    expect((await upload(stack, { media: photo, headers: known })).status).toBe(200);
    expect((await fetch(`${stack.gateway}/2/media.json`, { headers: known })).status).toBe(200);
    const unknown = upload(stack, { media: photo, headers: from('192.0.2.2') });
    await waitForUploads(stack, 20);
    await system.services['sandbox-provider'].thaw();
    expect((await unknown).status).toBe(200);
  } finally {
    await system.services['sandbox-provider'].thaw();
  }
});

test('lists and deletions work while uploads use all upload slots', async () => {
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS: '2' });
  const { id } = JSON.parse((await upload(stack, { media: photo })).text);
  await using crowd = new AsyncDisposableStack();
  for (let n = 0; n < 2; n += 1) crowd.use(await beginUpload(stack, { version: 2, media: photo }));
  await waitForUploads(stack, 2);
  // 429: until they are verified, the other two count as uploads of the same address.
  expect([429, 503]).toContain((await upload(stack, { media: photo })).status);
  const headers = echoHeaders(stack);
  expect((await fetch(`${stack.gateway}/2/media.json`, { headers })).status).toBe(200);
  expect((await fetch(`${stack.gateway}/2/media/${id}`, { method: 'DELETE', headers })).status).toBe(204);
});

describe('version 1', () => {
  // Unique secrets, so that no verdict is cached.
  const wrong = (secret: string) => [...secretParts.slice(0, 3), { name: 'oauth_secret', content: secret }];
  let stack: Stack;
  beforeAll(async () => {
    stack = await gatewayWith({});
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  test.each([
    ['wrong and before it', () => [key, ...wrong('one'), message, file(Buffer.alloc(8 * MiB))], 'credentials_refused'],
    ['wrong and after it', () => [key, message, file(Buffer.alloc(8 * MiB)), ...wrong('two')], 'credentials_refused'],
    ['missing', () => [key, message, file(Buffer.alloc(8 * MiB))], 'credentials_missing'],
  ])('media never reaches the store if its secrets are %s', async (_what, parts, reason) => {
    const maxGained = await watchStore(stack, async () => {
      const { status, text } = await upload(stack, { version: 1, parts: parts() });
      expect([status, JSON.parse(text).errors[0].reason]).toEqual([401, reason]);
    });
    expect(maxGained).toBe(0);
  });

  test('nothing reaches the store while the verdict on secrets before the media is pending', async () => {
    await system.services['sandbox-provider'].freeze();
    const maxGained = await watchStore(stack, async () => {
      // Of no cached verdict.
      const parts = [key, ...wrong('three'), message, file(Buffer.alloc(8 * MiB))];
      const { text } = await upload(stack, { version: 1, parts });
      expect(JSON.parse(text).errors[0].reason).toBe('provider_unavailable');
    });
    await system.services['sandbox-provider'].thaw();
    expect(maxGained).toBe(0);
  });
});

test('version 1: media before its secrets may have up to a quarter of UPLOAD_BUFFER_BYTES, and is stored once they are verified', async () => {
  await using stack = await gatewayWith({ UPLOAD_BUFFER_BYTES: `${8 * MiB}` });
  const sized = (bytes: number) => [key, message, file(Buffer.concat([photo, Buffer.alloc(bytes - photo.length)]))];
  const whole = await upload(stack, { version: 1, parts: [...sized(2 * MiB), ...secretParts] });
  expect(whole).toMatchObject({ status: 200, text: expect.stringContaining(`"size":${2 * MiB},`) });
  const larger = await upload(stack, { version: 1, parts: [...sized(2 * MiB + 1), ...secretParts] });
  expect([larger.status, JSON.parse(larger.text).errors[0]]).toEqual([
    413,
    {
      code: 413,
      reason: 'media_too_large',
      message: 'Send the fields consumer_token, consumer_secret, oauth_token and oauth_secret before the file.',
    },
  ]);
  expect((await upload(stack, { version: 1, parts: [...secretParts, ...sized(2 * MiB + 1)] })).status).toBe(200);
});

test('an address is refused if its uploads keep failing verification; other addresses are not', async () => {
  await using stack = await gatewayWith({ TRUSTED_PROXIES: '127.0.0.1' });
  const parts = [key, ...wrongSecrets, message, file(photo)];
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
  const fail = async () => (await upload(stack, { version: 1, parts, ...from('192.0.2.66') })).status;
  for (let n = 0; n < 50; n += 1)
    expect(new Set(await Promise.all(Array.from({ length: 20 }, fail)))).toEqual(new Set([401]));
  // The proxy appends the client's address to what the client sent.
  for (const address of ['192.0.2.66', '192.0.2.1, 192.0.2.66']) {
    const refused = await upload(stack, { media: photo, ...from(address) });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(5);
  }
  for (let n = 0; n < 4; n += 1) expect((await upload(stack, { media: photo, ...from('192.0.2.1') })).status).toBe(200);
});

test('X-Forwarded-For from an untrusted client is ignored', async () => {
  // One address may have one anonymous upload.
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS: '10' });
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
  await using _pending = await beginUpload(stack, { parts: [key, file(photo)], ...from('192.0.2.66') });
  await waitForUploads(stack, 1);
  expect((await upload(stack, { version: 1, media: photo, ...from('192.0.2.1') })).status).toBe(429);
});
