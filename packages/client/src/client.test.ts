import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type MediaRecord, recordToJson, recordToXml } from '@echodrop/record';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uploadMedia } from './client.ts';
import { UnreadableResponse, UploadRefused } from './read-response.ts';

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly form: FormData;
}

let received: Received;
let answer: (response: ServerResponse) => void;

async function receive(request: IncomingMessage): Promise<Received> {
  const { url: path, headers } = request;
  const body = new Response(Uint8Array.from(await buffer(request)), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  });
  return { path, headers, form: await body.formData() };
}

const server = createServer(async (request, response) => {
  received = await receive(request);
  answer(response);
});
const media = randomBytes(300_000);
let service: string;
let directory: string;
let file: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  directory = await mkdtemp(join(tmpdir(), 'client-'));
  file = join(directory, 'a photo.jpg');
  await writeFile(file, media);
});

afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true });
});

const upload = () => ({
  file,
  message: 'größe & more',
  apiKey: 'key',
  provider: 'http://provider.example/verify.json',
  credentials: { consumerKey: 'ck', consumerSecret: 'cs', token: 't', tokenSecret: 'ts' },
});

const record: MediaRecord = {
  id: 'a1B2c3D4e5',
  text: ' a <b> & "c"\r\n\t]]> größe 😀 \uFFFD ',
  url: 'http://site.example/a1B2c3D4e5',
  width: 1800,
  height: 1200,
  size: 300_000,
  type: 'jpg',
  timestamp: new Date('2026-11-21T12:00:00Z'),
  user: { id: 1059182745930317825n, screenName: 'sandbox' },
};

const send = (status: number, body: string, headers = {}) => {
  answer = (response) => response.writeHead(status, headers).end(body);
};

test.each([
  ['json', recordToJson],
  ['xml', recordToXml],
] as const)('reads the record from %s, with an exact user id', async (format, spelled) => {
  send(200, spelled(record));
  expect(await uploadMedia(service, upload(), { format })).toEqual(record);
  expect(received.path).toBe(`/2/upload.${format}`);
});

test('version 2 sends a signature in headers and no secrets', async () => {
  send(200, recordToJson(record));
  await uploadMedia(service, upload());
  const { headers, form } = received;
  expect(headers['x-auth-service-provider']).toBe('http://provider.example/verify.json');
  expect(headers['x-verify-credentials-authorization']).toMatch(
    /^OAuth realm="http:\/\/provider\.example\/", .*oauth_token="t"/,
  );
  expect([...form.keys()]).toEqual(['key', 'message', 'media']);
  expect([form.get('key'), form.get('message')]).toEqual(['key', 'größe & more']);
});

test('version 1 sends the four secrets as fields, before the file', async () => {
  send(200, recordToJson(record));
  await uploadMedia(service, upload(), { version: 1 });
  const { path, headers, form } = received;
  expect([path, headers['x-verify-credentials-authorization']]).toEqual(['/1/upload.json', undefined]);
  expect([...form.entries()].slice(2, -1)).toEqual([
    ['consumer_token', 'ck'],
    ['consumer_secret', 'cs'],
    ['oauth_token', 't'],
    ['oauth_secret', 'ts'],
  ]);
});

test('sends the whole file with name and length, and reports progress', async () => {
  send(200, recordToJson(record));
  const progress: number[] = [];
  await uploadMedia(service, upload(), { onProgress: (sent, total) => progress.push(sent / total) });
  const sent = received.form.get('media') as File;
  expect([sent.name, media.equals(await sent.bytes())]).toEqual(['a photo.jpg', true]);
  expect(Number(received.headers['content-length'])).toBeGreaterThan(media.length);
  expect(progress.length).toBeGreaterThan(1);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBe(1);
});

test.each([
  ['json', '{"errors":[{"code":503,"reason":"overloaded","message":"Too busy."}]}'],
  [
    'xml',
    '<?xml version="1.0"?><errors><error><code>503</code><reason>overloaded</reason><message>Too busy.</message></error></errors>',
  ],
] as const)('throws a refusal in %s with its details', async (format, body) => {
  send(503, body, { 'Retry-After': '7' });
  const refused = await uploadMedia(service, upload(), { format }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UploadRefused);
  expect(refused).toMatchObject({ status: 503, reason: 'overloaded', message: 'Too busy.', retryAfterSeconds: 7 });
});

test('reports a response of a proxy by its status', async () => {
  send(502, '<html>Bad gateway');
  for (const format of ['json', 'xml'] as const) {
    await expect(uploadMedia(service, upload(), { format })).rejects.toMatchObject({ status: 502, reason: 'unknown' });
  }
});

test.each([
  ['json', ''],
  ['json', '{"id":"a"}'],
  ['json', '[]'],
  ['xml', '<image><id>a</id>'],
  ['xml', '<image/>'],
  ['xml', '<html/>'],
] as const)('rejects a 200 without a record (%s %j)', async (format, body) => {
  send(200, body);
  await expect(uploadMedia(service, upload(), { format })).rejects.toThrow(UnreadableResponse);
});

test('does not follow redirects, which could leak credentials', async () => {
  send(307, '', { Location: '/elsewhere' });
  await expect(uploadMedia(service, upload())).rejects.toThrow(TypeError);
  expect(received.path).toBe('/2/upload.json');
});

test('an aborted signal ends the upload', async () => {
  const stop = new AbortController();
  answer = () => stop.abort();
  await expect(uploadMedia(service, upload(), { signal: stop.signal })).rejects.toThrow('aborted');
});

test("throws the system's error for a missing file or a directory", async () => {
  await expect(uploadMedia(service, { ...upload(), file: `${file}.not` })).rejects.toThrow('ENOENT');
  await expect(uploadMedia(service, { ...upload(), file: directory })).rejects.toThrow('EISDIR');
});
