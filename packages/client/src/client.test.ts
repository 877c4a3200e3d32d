import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordToJson, recordToXml } from '@echodrop/record';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod/mini';
import {
  type ClientOptions,
  EchodropClient,
  type ListOptions,
  RequestRefused,
  UnreadableResponse,
  type UploadOptions,
} from './node.ts';
import { type FakeService, refuse, respond, someRecord, startFakeService } from './service.fixture.ts';

const media = randomBytes(300_000);
const published = respond(200, recordToJson(someRecord));
let service: FakeService;
let directory: string;
let file: string;

beforeAll(async () => {
  service = await startFakeService();
  directory = await mkdtemp(join(tmpdir(), 'client-'));
  file = join(directory, 'a photo.jpg');
  await writeFile(file, media);
});
beforeEach(() => {
  service.received.length = 0;
  service.responses = [published];
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

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

const withoutTypes = (options: unknown) => new EchodropClient(options as ClientOptions);
test('leaves the settings of zod as they are', () => {
  expect(z.config().jitless).toBeUndefined();
});

test.each([
  ['service', undefined],
  ['apiKey', { service: 'https://upload.example', provider, credentials: oauth, apiKey: 5 }],
  ['service', {}],
  ['service', { service: 'x', provider, credentials: oauth }],
  ['provider', { service: 'https://upload.example', provider: 'y', credentials: oauth }],
  ['provider', { service: 'https://upload.example', provider: new URL(provider), credentials: oauth }],
  ['credentials', { service: 'https://upload.example', provider, credentials: {} }],
  ['credentials', { service: 'https://upload.example', provider, credentials: { bearer: '' } }],
])('reports an invalid option: `%s` in %j', (name, options) => {
  expect(() => withoutTypes(options)).toThrow(TypeError);
  expect(() => withoutTypes(options)).toThrow(`\`${name}\` must be `);
});

test.each([
  [{ caption: 'At the sea' }, 'There is no option `caption`.'],
  [{ message: 5 }, '`message` must be a string.'],
  [{ signal: {} }, '`signal` must be an AbortSignal.'],
  ['a caption', 'Options must be an object.'],
  [null, 'Options must be an object.'],
])('refuses the options %j of an upload', async (options, message) => {
  const refused = client().upload(file, options as UploadOptions);
  await expect(refused).rejects.toThrow(new TypeError(message));
  expect(service.received).toEqual([]);
});

test.each([
  [{ after: '9-x', limit: 5 }, 'There is no option `limit`.'],
  [{ count: 101 }, '`count` must be a whole number, 1 to 100.'],
  [{ signal: {} }, '`signal` must be an AbortSignal.'],
  [null, 'Options must be an object.'],
])('refuses the options %j of a list', async (options, message) => {
  await expect(client().list(options as ListOptions)).rejects.toThrow(new TypeError(message));
  expect(service.received).toEqual([]);
});

test('refuses to remove an upload without an id', async () => {
  await expect(client().remove('')).rejects.toThrow(TypeError);
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

test('version 1 does not accept a bearer token', async () => {
  const upload = client({ credentials: { bearer: 't' } }).upload(file, { version: 1 });
  await expect(upload).rejects.toThrow('API version 1 does not support bearer tokens');
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

test('an error of `onProgress` ends the upload', async () => {
  const onProgress = () => {
    throw new Error('no bar');
  };
  await expect(client().upload(file, { onProgress })).rejects.toThrow('no bar');
  expect(service.received).toEqual([]);
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
  const pipe = join(directory, 'pipe');
  await execa('mkfifo', [pipe]);
  for (const [path, what] of [
    [directory, 'a directory'],
    [pipe, 'a pipe or device'],
    ['/dev/zero', 'a pipe or device'],
  ] as const)
    await expect(client().upload(path)).rejects.toThrow(`${path} is ${what}.`);
});

test('refuses a provider that no header can carry', () => {
  expect(() => client({ provider: 'https://social.example/写真' })).toThrow('`provider` must contain only ASCII');
});

test.each([
  ['credentials', () => client({ credentials: { bearer: 'tok\nen' } })],
  ['service', () => client({ service: 'https://me:password@upload.example' })],
  ['retries', () => client({ retries: Number.NaN })],
  ['retries', () => client({ retries: -1 })],
  ['version', () => client().upload(file, { version: 3 as 2 })],
  ['format', () => client().upload(file, { format: 'yaml' as 'xml' })],
  ['Media', () => client().upload(null as unknown as string)],
  ['Media', () => client().upload({} as Blob)],
] as const)('names an invalid option: %s (%#)', async (name, use) => {
  await expect(async () => use()).rejects.toThrow(new RegExp(`^\`?${name}\`? must be `));
  expect(service.received).toEqual([]);
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
