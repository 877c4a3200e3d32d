import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordToJson } from '@echodrop/record';
import { patienceMs } from '@echodrop/testkit/patience';
import { listen } from '@echodrop/testkit/servers/listen';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test, vi } from 'vitest';
import { type ClientOptions, ServiceUnreachable } from './node.ts';
import { clientOf, lose, refuse, respond, someRecord, useFakeService } from './service.fixture.ts';
import { heldStallMs, holdStalls } from './stalls.fixture.ts';

const published = respond(200, recordToJson(someRecord));
const service = await useFakeService();

async function startServer(onRequest: RequestListener) {
  const { origin: address, [Symbol.asyncDispose]: dispose } = await listen(createServer(onRequest));
  return { address, [Symbol.asyncDispose]: dispose };
}

/** Refuses after the first bytes, and closes the connection soon after. */
const refuseEarly: RequestListener = (request, response) => {
  request.once('data', () => {
    request.pause();
    response.writeHead(401, { Connection: 'close' });
    response.end('{}', () => setTimeout(() => request.destroy(), 5));
  });
};

const signing = { consumerKey: 'ck', consumerSecret: 'cs', token: 't', tokenSecret: 'ts' };
const client = (options = {}) => clientOf(service, { credentials: signing, ...options });
const bytes = new Uint8Array(1000);
const seen = (name: string) => service.received.map(({ headers }) => headers[name]);

test('a lost response is retried with the same key and media, and another signature', async () => {
  service.responses = [lose, published];
  expect(await client().upload(bytes)).toEqual(someRecord);
  const keys = seen('idempotency-key');
  expect(keys[0]).toMatch(/^"[0-9a-f]{32}"$/);
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(new Set(seen('x-verify-credentials-authorization')).size).toBe(2);
  const sizes = service.received.map(({ form }) => (form.get('media') as File).size);
  expect(sizes).toEqual([1000, 1000]);
});

test('a refusal that may pass is retried, and any other is final', async () => {
  service.responses = [refuse(401, 'provider_unavailable'), published];
  expect(await client().upload(bytes)).toEqual(someRecord);
  service.responses = [refuse(401, 'credentials_refused')];
  await expect(client().upload(bytes)).rejects.toMatchObject({ status: 401, reason: 'credentials_refused' });
  expect(service.received).toHaveLength(3);
});

test('an abort in the middle ends the upload, not the process; progress is what the connection took', async () => {
  await using silent = await startServer((request, response) => {
    if (request.url === '/files/') response.writeHead(201, { Location: '/files/first' }).end();
    else request.pause();
  });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'silent-'));
  const file = join(folder.path, 'big.mp4');
  await writeFile(file, Buffer.alloc(100_000_000));
  const progress: number[] = [];
  const aborting = new AbortController();
  const onProgress = (sent: number) => {
    if (progress.push(sent) === 1) setTimeout(() => aborting.abort(new Error('enough')), 500);
  };
  const uploading = client({ service: silent.address }).upload(file, { signal: aborting.signal, onProgress });
  await expect(uploading).rejects.toThrow('enough');
  expect(progress.at(-1)).toBeLessThan(50_000_000);
});

test('a refusal that arrives while a stream is read ends the upload, not the process', async () => {
  await using early = await startServer((request, response) => {
    request.pause();
    response.writeHead(413, { 'Content-Length': 2 }).end('{}');
  });
  async function* slow() {
    for (let n = 0; n < 100; n += 1) yield await sleep(1, new Uint8Array(100_000));
  }
  const refused = client({ service: early.address }).upload(slow());
  await expect(refused).rejects.toMatchObject({ status: 413 });
  // The fault came after the response.
  await sleep(300);
});

test('a refusal that arrives while the file is still sent ends the upload, not the process', async () => {
  await using early = await startServer(refuseEarly);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'early-'));
  const file = join(folder.path, 'big.jpg');
  await writeFile(file, Buffer.alloc(3_000_000));
  for (let n = 0; n < 20; n += 1) {
    await expect(client({ service: early.address, retries: 0 }).upload(file)).rejects.toThrow();
    // The fault came after the response.
    await sleep(30);
  }
});

test('an upload that stalls is sent again', async () => {
  service.responses = [holdStalls(), published];
  expect(await client({ stallMs: heldStallMs }).upload(bytes)).toEqual(someRecord);
  expect(service.received).toHaveLength(2);
  await using silent = await startServer((request) => request.pause());
  const stalled = client({ service: silent.address, stallMs: 200, retries: 0 }).upload(new Uint8Array(30_000_000));
  await expect(stalled).rejects.toMatchObject({
    name: 'ServiceUnreachable',
    cause: { message: 'no progress for 0.2 s' },
  });
  service.responses = [(response) => response.writeHead(200).flushHeaders()];
  await expect(client({ stallMs: 200, retries: 0 }).upload(bytes)).rejects.toThrow(ServiceUnreachable);
});

test.each([
  ['a lost response', [lose, refuse(429, 'too_many_requests')], true],
  ['a lost response, but the media is refused', [lose, refuse(415, 'media_unsupported')], false],
  ['no loss', [refuse(429, 'too_many_requests')], false],
  ['a failure of the service', [refuse(500, 'unknown')], true],
])(
  'after %s, the error says whether the upload may be published, and its key',
  async (_, responses, mayBePublished) => {
    service.responses = responses;
    const failed = client({ retries: responses.length - 1 }).upload(bytes);
    const idempotencyKey = expect.stringMatching(/^[0-9a-f]{32}$/);
    await expect(failed).rejects.toMatchObject({ mayBePublished, idempotencyKey });
  },
);

test('after a refused connection, nothing is published, and no timer or stream is left open', async () => {
  const unreachable = await startServer(() => {});
  await unreachable[Symbol.asyncDispose]();
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  // It would run for longer than the test waits.
  const stallMs = 2 * patienceMs;
  const failed = client({ service: unreachable.address, retries: 1, stallMs }).upload(new Blob([bytes]));
  await expect(failed).rejects.toMatchObject({ name: 'ServiceUnreachable', mayBePublished: false });
  await waitUntil('no timer', async () => timers() <= before);
  const cancelled = vi.fn();
  const readable = Readable.from([bytes]);
  for (const stream of [new ReadableStream<Uint8Array>({ cancel: cancelled }), readable])
    await expect(client({ service: unreachable.address }).upload(stream)).rejects.toThrow(ServiceUnreachable);
  expect(cancelled).toHaveBeenCalledOnce();
  expect(readable.destroyed).toBe(true);
});

test.each<[string, () => Partial<ClientOptions>, RegExp]>([
  ['TLS', () => ({ service: service.address.replace('http:', 'https:') }), /^The TLS handshake /],
  ['port', () => ({ service: 'http://127.0.0.1:6000' }), /^fetch blocks the port /],
  [
    'certificate',
    () => {
      const cause = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
      return { fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) };
    },
    /^The certificate of the upload service /,
  ],
])(
  'a request that its %s keeps from the service is sent once, whatever its size, and has published nothing',
  async (_, options, message) => {
    const { fetch: send = fetch, ...others } = options();
    const sent = vi.fn(send);
    const failed = client({ ...others, fetch: sent }).upload(new Uint8Array(2 ** 20));
    await expect(failed).rejects.toMatchObject({ message: expect.stringMatching(message), mayBePublished: false });
    expect(sent).toHaveBeenCalledOnce();
  },
);

test('a stream is sent once', async () => {
  service.responses = [refuse(503, 'overloaded')];
  await expect(client().upload(new Blob([bytes]).stream())).rejects.toMatchObject({ reason: 'overloaded' });
  expect(service.received).toHaveLength(1);
});

test('a stream that fails ends the upload with its error', async () => {
  service.responses = [published];
  async function* failing() {
    yield bytes;
    throw new Error('disk gone');
  }
  await expect(client().upload(failing())).rejects.toMatchObject({ cause: { message: 'disk gone' } });
  // Before anything reads it.
  const stream = new Readable({ read() {} });
  const broken = client().upload(stream);
  stream.destroy(new Error('unplugged'));
  await expect(broken).rejects.toMatchObject({ cause: { message: 'unplugged' } });
  const text = client().upload(Readable.from(['text']));
  await expect(text).rejects.toMatchObject({ cause: { message: 'Chunks of a stream must be bytes (Uint8Array).' } });
});

test("the caller's key is quoted", async () => {
  service.responses = [published];
  await client().upload(bytes, { idempotencyKey: 'a "b" \\' });
  expect(seen('idempotency-key')).toEqual(['"a \\"b\\" \\\\"']);
  for (const idempotencyKey of ['', 'ü', 'a\nb', 'x'.repeat(256)])
    await expect(client().upload(bytes, { idempotencyKey })).rejects.toThrow(TypeError);
});
