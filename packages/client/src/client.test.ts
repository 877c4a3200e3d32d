import { randomBytes } from 'node:crypto';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordToJson, recordToXml } from '@echodrop/record';
import { execa } from 'execa';
import { afterAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod/mini';
import {
  type ClientOptions,
  EchodropClient,
  type ListOptions,
  RequestRefused,
  UnreadableResponse,
  type UploadOptions,
} from './node.ts';
import { refuse, respond, someRecord, useFakeService } from './service.fixture.ts';

const media = randomBytes(300_000);
const published = respond(200, recordToJson(someRecord));
const service = await useFakeService();
const folder = await mkdtempDisposable(join(tmpdir(), 'client-'));
const file = join(folder.path, 'a photo.jpg');
await writeFile(file, media);

beforeEach(() => {
  service.responses = [published];
});
afterAll(() => folder.remove());

const oauth = { consumerKey: 'ck', consumerSecret: 'cs', token: 't', tokenSecret: 'ts' };
const provider = 'http://provider.example/verify.json';
const client = (options = {}) =>
  new EchodropClient({ service: service.address, apiKey: 'key', provider, credentials: oauth, ...options });
const sentMedia = () => service.received.at(-1)?.form.get('media') as File;

test.each([
  ['json', recordToJson],
  ['xml', recordToXml],
] as const)('reads the record from %s, with an exact user id', async (format, spelled) => {
  service.responses = [respond(200, spelled(someRecord))];
  expect(await client().upload(file, { format })).toEqual(someRecord);
  expect(service.received[0]?.path).toBe(`/2/upload.${format}`);
});

test('version 2 sends a signature in headers and no secrets', async () => {
  await client().upload(file, { message: 'größe & more', alt: 'Two boats' });
  const [{ headers, form } = expect.fail()] = service.received;
  expect(headers['x-auth-service-provider']).toBe(provider);
  expect(headers['x-verify-credentials-authorization']).toMatch(
    /^OAuth realm="http:\/\/provider\.example\/", .*oauth_token="t"/,
  );
  expect([...form.entries()].slice(0, -1)).toEqual([
    ['key', 'key'],
    ['message', 'größe & more'],
    ['alt', 'Two boats'],
  ]);
});

test('leaves the settings of zod as they are', () => {
  expect(z.config().jitless).toBeUndefined();
});

const construct = (options: unknown) => new EchodropClient(options as ClientOptions);
const whole = { service: 'https://upload.example', provider, credentials: oauth };

test.each<[message: string, use: () => unknown]>([
  ['Options must be an object.', () => construct(undefined)],
  ['`service` must be ', () => construct({})],
  ['`service` must be ', () => construct({ ...whole, service: 'x' })],
  ['`service` must be ', () => construct({ ...whole, service: 'https://me:password@upload.example' })],
  ['`apiKey` must be ', () => construct({ ...whole, apiKey: 5 })],
  ['`provider` must be ', () => construct({ ...whole, provider: 'y' })],
  ['`provider` must be ', () => construct({ ...whole, provider: new URL(provider) })],
  ['`provider` must contain only ASCII', () => construct({ ...whole, provider: 'https://social.example/写真' })],
  ['`credentials` must be ', () => construct({ ...whole, credentials: {} })],
  ['`credentials` must be ', () => construct({ ...whole, credentials: { bearer: '' } })],
  ['`credentials` must be ', () => construct({ ...whole, credentials: { bearer: 'tok\nen' } })],
  ['`retries` must be ', () => construct({ ...whole, retries: Number.NaN })],
  ['`retries` must be ', () => construct({ ...whole, retries: -1 })],
  ['There is no option `caption`.', () => client().upload(file, { caption: 'At the sea' } as UploadOptions)],
  ['`message` must be a string.', () => client().upload(file, { message: 5 as never })],
  ['`signal` must be an AbortSignal.', () => client().upload(file, { signal: {} as never })],
  ['`version` must be ', () => client().upload(file, { version: 3 as 2 })],
  ['`format` must be ', () => client().upload(file, { format: 'yaml' as 'xml' })],
  ['`resumeId` must be an id from `onResumable`.', () => client().upload(file, { resumeId: '../2/media' })],
  ['Options must be an object.', () => client().upload(file, 'a caption' as UploadOptions)],
  ['Options must be an object.', () => client().upload(file, null as never)],
  [
    'API version 1 does not support bearer',
    () => client({ credentials: { bearer: 't' } }).upload(file, { version: 1 }),
  ],
  ['Media must be ', () => client().upload(null as never)],
  ['Media must be ', () => client().upload({} as Blob)],
  ['There is no option `limit`.', () => client().list({ after: '9-x', limit: 5 } as ListOptions)],
  ['`count` must be a whole number, 1 to 100.', () => client().list({ count: 101 })],
  ['`signal` must be an AbortSignal.', () => client().list({ signal: {} as never })],
  ['Options must be an object.', () => client().list(null as never)],
  ['The id of an upload must be ', () => client().remove('')],
])('refuses invalid options: %s (%#)', async (message, use) => {
  const error = await (async () => use())().catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain(message);
  expect(service.received).toEqual([]);
});

test('a bearer token is sent unchanged', async () => {
  await client({ credentials: { bearer: 'token' } }).upload(media);
  expect(service.received[0]?.headers['x-verify-credentials-authorization']).toBe('Bearer token');
});

test('version 1 sends the four secrets as fields, before the file', async () => {
  await client().upload(file, { version: 1 });
  const [{ path, headers, form } = expect.fail()] = service.received;
  expect([path, headers['x-verify-credentials-authorization']]).toEqual(['/1/upload.json', undefined]);
  expect([...form.entries()].slice(2, -1)).toEqual([
    ['consumer_token', 'ck'],
    ['consumer_secret', 'cs'],
    ['oauth_token', 't'],
    ['oauth_secret', 'ts'],
  ]);
});

test('sends the whole file with name and length, and reports progress', async () => {
  const progress: number[] = [];
  await client().upload(file, { onProgress: (sent, total = Number.NaN) => progress.push(sent / total) });
  expect([sentMedia().name, media.equals(await sentMedia().bytes())]).toEqual(['a photo.jpg', true]);
  expect(Number(service.received[0]?.headers['content-length'])).toBeGreaterThan(media.length);
  expect(progress.length).toBeGreaterThan(1);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBe(1);
});

test.each([
  ['a file: URL', () => new URL(`file://${file.replace(' ', '%20')}`), 'a photo.jpg'],
  ['bytes', () => Uint8Array.from(media), 'media'],
  ['a Blob', () => new Blob([media]), 'media'],
  ['a File', () => new File([media], 'b.png'), 'b.png'],
  ['a web stream', () => new Blob([media]).stream(), 'media'],
  ['an async iterable', () => chunks(media), 'media'],
])('uploads %s', async (_, source, name) => {
  await client().upload(source(), { message: 'a\nb' });
  expect([sentMedia().name, media.equals(await sentMedia().bytes())]).toEqual([name, true]);
  expect(service.received[0]?.form.get('message')).toBe('a\r\nb');
});

test('a file name cannot break out of its part', async () => {
  await client().upload(chunks(media), { filename: 'a"\r\nX: y' });
  expect(media.equals(await sentMedia().bytes())).toBe(true);
});

async function* chunks(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

test.each([
  ['json', '{"errors":[{"code":415,"reason":"media_unsupported","message":"Too odd."}]}'],
  [
    'xml',
    '<?xml version="1.0"?><errors><error><code>415</code><reason>media_unsupported</reason><message>Too odd.</message></error></errors>',
  ],
] as const)('throws a refusal in %s with its details', async (format, body) => {
  service.responses = [respond(415, body, { 'Retry-After': '7', 'X-Request-Id': 'abc' })];
  const refused = await client()
    .upload(file, { format })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RequestRefused);
  const details = { status: 415, reason: 'media_unsupported', message: 'Too odd.' };
  expect(refused).toMatchObject({ ...details, retryAfterSeconds: 7, requestId: 'abc' });
});

test('reports a response of a proxy by its status', async () => {
  service.responses = [respond(413, '<html>Too large')];
  for (const format of ['json', 'xml'] as const)
    await expect(client().upload(file, { format })).rejects.toMatchObject({ status: 413, reason: 'unknown' });
});

test.each([
  ['json', ''],
  ['json', '{"id":"a"}'],
  ['json', '[]'],
  ['xml', '<image><id>a</id>'],
  ['xml', '<image/>'],
  ['xml', '<html/>'],
] as const)('rejects a 200 without a record (%s %j)', async (format, body) => {
  service.responses = [respond(200, body)];
  await expect(client({ retries: 0 }).upload(file, { format })).rejects.toThrow(UnreadableResponse);
});

test('does not follow redirects, which could leak credentials, and does not retry them', async () => {
  service.responses = [respond(307, '', { Location: '/elsewhere' })];
  await expect(client().upload(file)).rejects.toMatchObject({
    name: 'ServiceUnreachable',
    message: expect.stringMatching(/^The upload service redirects, .* Check the address /),
    mayBePublished: false,
  });
  expect(service.received.map(({ path }) => path)).toEqual(['/2/upload.json']);
});

test('an aborted signal ends the upload, and also the pause before another attempt', async () => {
  const stop = new AbortController();
  service.responses = [() => stop.abort()];
  await expect(client().upload(file, { signal: stop.signal })).rejects.toThrow('aborted');
  const later = new AbortController();
  service.responses = [
    (response) => {
      refuse(503, 'overloaded', { 'Retry-After': '60' })(response);
      response.once('close', () => setImmediate(() => later.abort()));
    },
  ];
  await expect(client().upload(file, { signal: later.signal })).rejects.toThrow('aborted');
});

test("throws the system's error for a missing file", async () => {
  await expect(client().upload(`${file}.not`)).rejects.toThrow('ENOENT');
});

test('refuses anything but regular files, without waiting for it', async () => {
  const pipe = join(folder.path, 'pipe');
  await execa('mkfifo', [pipe]);
  for (const [path, what] of [
    [folder.path, 'a directory'],
    [pipe, 'a pipe or device'],
    ['/dev/zero', 'a pipe or device'],
  ] as const)
    await expect(client().upload(path)).rejects.toThrow(`${path} is ${what}.`);
});

test('needs an API key for uploads only', async () => {
  await expect(client({ apiKey: undefined }).upload(file)).rejects.toThrow('API key');
  service.responses = [respond(200, '{"media":[]}')];
  expect(await client({ apiKey: undefined }).list()).toEqual({ records: [] });
});

test('uses the given fetch for every request', async () => {
  const addresses: string[] = [];
  const own: typeof fetch = (input, init) => {
    addresses.push(String(input));
    return fetch(input, init);
  };
  await client({ fetch: own }).upload(file);
  service.responses = [respond(204)];
  await client({ fetch: own }).remove('a1B2c3D4e5');
  expect(addresses).toEqual([`${service.address}/2/upload.json`, `${service.address}/2/media/a1B2c3D4e5`]);
});
