import { once } from 'node:events';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Caller } from '@echodrop/contracts/verification';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { type MultipartForm, multipartForm } from '@echodrop/testkit/multipart-form';
import { RawClient } from '@echodrop/testkit/raw-client';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type MemoryShare, UnverifiedMemory } from '../admit/unverified-memory.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { FormContent } from './form-content.ts';
import { type FormOptions, type FormSettings, receiveForm } from './receive-form.ts';

const limits = {
  maxMediaBytes: 100_000,
  typesOff: new Set<never>(),
  maxUploadSeconds: 60,
  compatibility: 'strict',
} as const;
const caller: Caller = { provider: 'https://town.example', subject: '1', userId: 1n, screenName: 'mia' };
const media = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));

const parts = new AsyncDisposableStack();
let address: string;
let folder: string;
let forms: FormSettings;
let received: (form: FormContent) => unknown = () => {};
let options: FormOptions;
/** The requests of a test, in order of arrival. */
let requests: IncomingMessage[];

beforeAll(async () => {
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'receive-form-'))).path;
  forms = { ...limits, store: new FilesystemObjectStore(folder), onOrphan: () => expect.unreachable() };
  const server = createServer(async (request, response) => {
    requests.push(request);
    const end = (outcome: string) => response.setHeader('Content-Length', outcome.length).end(outcome);
    try {
      await using form = await receiveForm(request, forms, options);
      await received(form);
      end('received');
    } catch (error) {
      end(error instanceof Refusal ? error.reason : `${error}`);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  parts.defer(() => server.closeAllConnections());
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => parts.disposeAsync());
beforeEach(() => {
  options = {};
  requests = [];
});

const whole = () =>
  multipartForm(
    [
      { name: 'key', content: 'the key' },
      { name: 'media', filename: 'a.jpg', content: media },
      { name: 'message', content: 'hello' },
    ],
    'b-o',
  );

async function send({ contentType, body }: MultipartForm, pieces = body.length): Promise<string> {
  await using client = await RawClient.connect(address);
  client.head('/', { 'Content-Type': contentType }, body.length);
  for (let at = 0; at < body.length; at += pieces) await client.flush(body.subarray(at, at + pieces));
  return (await client.response()).body;
}

const stored = () => readdir(join(folder, 'objects/media')).catch(() => []);

test.each([[1], [7], [100_000]])(
  'a form in pieces of %i bytes is read as sent, and its media is stored',
  async (pieces) => {
    received = async ({ fields, media: file }) => {
      expect(Object.fromEntries(fields)).toEqual({ key: 'the key', message: 'hello' });
      expect(file?.head).toEqual(media);
      await file?.awaitStored();
      expect(await readFile(join(folder, 'objects/media', `${file?.key}`))).toEqual(media);
    };
    expect(await send(whole(), pieces)).toBe('received');
    expect(await stored()).toEqual([]);
  },
);

test('a form truncated anywhere is malformed, and leaves nothing behind', async () => {
  received = () => {};
  const { contentType, body } = whole();
  const end = body.lastIndexOf('--b-o--') + '--b-o--'.length;
  const cuts = Array.from({ length: end }, (_, cut) => send({ contentType, body: body.subarray(0, cut) }));
  expect(new Set(await Promise.all(cuts))).toEqual(new Set(['form_malformed']));
  expect(await send({ contentType, body: body.subarray(0, end) })).toBe('received');
  expect(await stored()).toEqual([]);
});

const arrivalOfOne = () => waitUntil('a whole request', async () => requests.some(({ complete }) => complete));

/** The verdict of the next form, as in version 2. */
function verdictThatStops() {
  const verdict = Promise.withResolvers<Caller>();
  verdict.promise.catch(() => {});
  options = { verdict: verdict.promise, stopOnRefusal: true };
  return verdict;
}

test('media that fills the buffer before the verdict does not block the end of the form', async () => {
  const verdict = verdictThatStops();
  received = async ({ media: file }) => expect(await file?.awaitStored()).toMatchObject({ size: limits.maxMediaBytes });
  const sent = send(
    multipartForm([
      { name: 'media', filename: 'a.jpg', content: Buffer.alloc(limits.maxMediaBytes) },
      { name: 'message', content: 'hello' },
    ]),
  );
  await arrivalOfOne();
  verdict.resolve(caller);
  expect(await sent).toBe('received');
});

test('media that becomes too large before the verdict does not block the end of the form', async () => {
  const verdict = verdictThatStops();
  received = async ({ media: file }) => expect(file?.tooLarge).toBe(true);
  const { contentType, body } = multipartForm([
    {
      name: 'media',
      filename: 'a.jpg',
      content: Buffer.concat([Buffer.alloc(65_535), Buffer.from('\r'.repeat(60_000))]),
    },
  ]);
  const sent = send({ contentType, body }, 1024);
  await arrivalOfOne();
  verdict.resolve(caller);
  expect(await sent).toBe('received');
});

test('committed media is kept, other media is discarded', async () => {
  received = async ({ media: file }) => {
    await file?.awaitStored();
    file?.commit();
  };
  expect(await send(whole())).toBe('received');
  expect(await stored()).toHaveLength(1);
});

test('media over the limit is not stored, and the rest of the form is read', async () => {
  const before = await stored();
  const large = multipartForm([
    { name: 'media', filename: 'a.jpg', content: Buffer.alloc(limits.maxMediaBytes + 1) },
    { name: 'message', content: 'hello' },
  ]);
  received = async ({ fields, media: file }) => {
    expect(file?.tooLarge).toBe(true);
    expect(await file?.awaitStored()).toBeUndefined();
    expect(fields.get('message')).toBe('hello');
  };
  expect(await send(large)).toBe('received');
  const exact = multipartForm([{ name: 'media', filename: 'a.jpg', content: Buffer.alloc(limits.maxMediaBytes) }]);
  received = async ({ media: file }) => {
    expect(file?.tooLarge).toBe(false);
    expect(await file?.awaitStored()).toMatchObject({ size: limits.maxMediaBytes });
  };
  expect(await send(exact)).toBe('received');
  expect(await stored()).toEqual(before);
});

test('a refused caller ends a form at once, and takes precedence over a malformed form', async () => {
  const before = await stored();
  const verdict = verdictThatStops();
  const { contentType, body } = whole();
  await using unfinished = await RawClient.connect(address);
  unfinished.head('/', { 'Content-Type': contentType }, body.length);
  unfinished.write(body.subarray(0, 200));
  await waitUntil('the unfinished request', async () => requests.length === 1);
  const malformed = send({ contentType, body: body.subarray(0, 100) });
  await arrivalOfOne();
  verdict.reject(new Refusal('caller_blocked'));
  expect(await malformed).toBe('caller_blocked');
  expect(await unfinished.response()).toMatchObject({ body: 'caller_blocked' });
  expect(await stored()).toEqual(before);
});

const order = { late: 'before its credentials', early: 'after its credentials' } as const;
const KiB = 1024;

/** Media that waits for the verdict, as in version 1; in separate memory if it precedes its credentials. */
function mediaThatWaits(kind: keyof typeof order, maxBytes = 64 * KiB) {
  const verdict = Promise.withResolvers<Caller>();
  verdict.promise.catch(() => {});
  const waiting = { verdict, memory: new UnverifiedMemory(maxBytes), share: undefined as MemoryShare | undefined };
  const openMemory = (crowdOut: Parameters<UnverifiedMemory['open']>[1]) => {
    waiting.share = kind === 'late' ? waiting.memory.open('one', crowdOut) : undefined;
    return waiting.share;
  };
  options = { verdict: verdict.promise, openMemory };
  return waiting;
}

const formOf = (bytes: number) =>
  multipartForm([
    { name: 'media', filename: 'a.jpg', content: Buffer.alloc(bytes, 'media') },
    { name: 'message', content: 'hello' },
  ]);

test.each(['late', 'early'] as const)('media sent %s is stored completely after the verdict', async (kind) => {
  const waiting = mediaThatWaits(kind);
  received = async ({ fields, media: file }) => {
    expect(fields.get('message')).toBe('hello');
    expect(await stored()).not.toContain(file?.key);
    waiting.verdict.resolve(caller);
    await file?.awaitStored();
    expect(await readFile(join(folder, 'objects/media', `${file?.key}`))).toEqual(Buffer.alloc(60_000, 'media'));
    expect(waiting.memory.heldBytes).toBe(0);
  };
  expect(await send(formOf(60_000), 5000)).toBe('received');
});

test.each(['late', 'early'] as const)(
  'media sent %s is dropped after a refusal, and the rest of the form is read',
  async (kind) => {
    const waiting = mediaThatWaits(kind);
    const before = await stored();
    const { contentType, body } = formOf(60_000);
    await using client = await RawClient.connect(address);
    client.head('/', { 'Content-Type': contentType }, body.length);
    await client.flush(body.subarray(0, 40_000));
    waiting.verdict.reject(new Refusal('caller_blocked'));
    received = async ({ fields, media: file }) => {
      expect(fields.get('message')).toBe('hello');
      await expect(file?.awaitStored()).rejects.toThrow('caller_blocked');
    };
    client.write(body.subarray(40_000));
    expect(await client.response()).toMatchObject({ body: 'received' });
    expect(await stored()).toEqual(before);
    expect(waiting.memory.heldBytes).toBe(0);
  },
);

test('media before its credentials is refused if it exceeds the memory, which it then returns', async () => {
  const waiting = mediaThatWaits('late', 50_000);
  const { contentType, body } = formOf(60_000);
  await using client = await RawClient.connect(address);
  client.head('/', { 'Content-Type': contentType }, body.length);
  client.write(body.subarray(0, 55_000));
  expect(await client.response()).toMatchObject({ body: 'media_too_large' });
  expect(waiting.memory.heldBytes).toBe(0);
});

test('crowding out media ends its upload', async () => {
  const waiting = mediaThatWaits('late', 50_000);
  const { contentType, body } = formOf(60_000);
  await using client = await RawClient.connect(address);
  client.head('/', { 'Content-Type': contentType }, body.length);
  client.write(body.subarray(0, 45_000));
  await waitUntil('held media', async () => waiting.memory.heldBytes > 40_000);
  waiting.memory.open('another', () => expect.unreachable()).take(20_000);
  expect(await client.response()).toMatchObject({ body: 'too_many_requests' });
  expect(waiting.memory.heldBytes).toBe(20_000);
});

test.each([
  ['version 2', true],
  ['version 1, credentials first', false],
])('%s: before the verdict, chunks of one byte take no more memory than larger ones', async (_what, stopOnRefusal) => {
  forms = { ...forms, maxMediaBytes: 1024 * KiB };
  const verdict = verdictThatStops();
  options = { ...options, stopOnRefusal };
  const { contentType, body } = formOf(600 * KiB);
  const chunks = Buffer.from(Array.from(body, (byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join(''), 'latin1');
  await using client = await RawClient.connect(address);
  const before = memoryInUse();
  client.head('/', { 'Content-Type': contentType });
  client.write(chunks);
  await waitUntil('a pause', async () => requests[0]?.socket.isPaused() === true);
  // V8 frees used chunks in the background.
  await expect.poll(() => (memoryInUse() - before) / KiB).toBeLessThan(1024);
  requests[0]?.destroy();
  verdict.reject(new Refusal('caller_blocked'));
  forms = { ...forms, ...limits };
});

function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
