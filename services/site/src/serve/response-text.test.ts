import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { IncomingMessage, request, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ResponseText } from './response-text.ts';

const page = 'Größe <b>1</b> '.repeat(100);
const texts: Readonly<Record<string, ResponseText>> = {
  '/page': new ResponseText(page),
  '/short': new ResponseText('a'.repeat(1023)),
  '/long': new ResponseText(randomBytes(1024 * 1024).toString('base64')),
};
const app = express();
for (const [path, text] of Object.entries(texts))
  app.get(path, (_request, response) => text.send(response.type('html')));
let server: Server;

beforeAll(async () => {
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, headers, method }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

test.each([
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['br, gzip;q=0.1', 'gzip'],
  ['*', 'gzip'],
  ['identity;q=0', undefined],
  ['identity;q=0, gzip;q=0.5', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['gzip;q=0', undefined],
  ['gzip;q=0, *', undefined],
  ['*;q=0', undefined],
  ['br', undefined],
  ['', undefined],
  [undefined, undefined],
])('a client that accepts the encodings "%s" gets %s', async (accepted, encoding) => {
  const { status, headers, body } = await get('/page', accepted === undefined ? {} : { 'accept-encoding': accepted });
  expect(status).toBe(200);
  expect(headers['content-encoding']).toBe(encoding);
  expect(headers['content-length']).toBe(String(body.length));
  expect(headers.vary).toBe('Accept-Encoding');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect((encoding === 'gzip' ? gunzipSync(body) : body).toString()).toBe(page);
});

test('a text below 1 KiB is not compressed, but a cache must know that it may be', async () => {
  const { headers, body } = await get('/short', { 'accept-encoding': 'gzip' });
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers.vary).toBe('Accept-Encoding');
  expect(body).toHaveLength(1023);
});

test.each(['gzip', 'identity'])('HEAD has the headers of GET with %s', async (encoding) => {
  const { headers: expected } = await get('/page', { 'accept-encoding': encoding });
  const { headers, body } = await get('/page', { 'accept-encoding': encoding }, 'HEAD');
  expect({ ...headers, date: '' }).toEqual({ ...expected, date: '' });
  expect(body).toHaveLength(0);
});

// RFC 9110, section 8.8.3.3: a strong ETag would have to differ between the encodings.
test('both encodings have one weak ETag, and each is revalidated with 304', async () => {
  const { headers: gzip } = await get('/page', { 'accept-encoding': 'gzip' });
  const { headers: identity } = await get('/page');
  expect(gzip.etag).toMatch(/^W\/"[\w-]+"$/);
  expect(identity.etag).toBe(gzip.etag);
  expect((await get('/long')).headers.etag).not.toBe(gzip.etag);
  for (const encoding of ['gzip', 'identity']) {
    const known = { 'accept-encoding': encoding, 'if-none-match': gzip.etag ?? '' };
    const { status, headers, body } = await get('/page', known);
    expect([status, body.length]).toEqual([304, 0]);
    expect(headers).toMatchObject({ etag: gzip.etag, vary: 'Accept-Encoding' });
    expect(headers).not.toHaveProperty('content-encoding');
    expect((await get('/page', { ...known, 'if-none-match': '"other"' })).status).toBe(200);
  }
});

test('an unread response holds its whole compressed body, which limitResponses counts', () => {
  const unread = new IncomingMessage(new Socket());
  Object.assign(unread, { method: 'GET', url: '/long', headers: { 'accept-encoding': 'gzip' } });
  const response = new ServerResponse(unread);
  app(unread, response);
  expect(response.getHeader('Content-Encoding')).toBe('gzip');
  const length = Number(response.getHeader('Content-Length'));
  expect(length).toBeGreaterThan(1024 * 1024);
  expect(response.writableLength).toBeGreaterThanOrEqual(length);
});
