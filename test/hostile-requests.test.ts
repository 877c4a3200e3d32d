import { once } from 'node:events';
import { connect } from 'node:net';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, secretParts, type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const MiB = 1024 * 1024;

let stack: Stack;
let media: Buffer;
let before: { media: number; records: number; memory: number };

beforeAll(async () => {
  media = await samplePhoto('jpg', { width: 32, height: 32 });
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
  expect((await upload(stack, { media })).status).toBe(200);
  before = await state();
});

afterAll(async () => {
  await waitUntil('the original contents of the store', async () => {
    const { media: now, records } = await state();
    return now === before.media && records === before.records;
  });
  expect((await state()).memory - before.memory).toBeLessThan(200 * MiB);
  for (const queue of ['probe-photos', 'probe-films']) {
    expect(await stack.redis.command('LLEN', `{echodrop}:${queue}:wait`)).toBe('0');
  }
  await stack[Symbol.asyncDispose]();
});

const key = { name: 'key', content: sandbox.apiKey };
const message = { name: 'message', content: 'hello' };
const file = () => ({ name: 'media', filename: 'a.jpg', content: media });
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `extra${i}`, content: 'x' }));

// services/gateway/src/receive/read-form.test.ts has the other malformed forms.
describe('a hostile form gets a 400 in the requested format', () => {
  const bomb = `Content-Disposition: form-data; name="media"\r\n${'X: y\r\n'.repeat(5000)}`;
  const nested = {
    name: 'files',
    content: '--i\r\nContent-Disposition: file; filename="a"\r\n\r\nx\r\n--i--',
    headers: 'Content-Disposition: form-data; name="files"\r\nContent-Type: multipart/mixed; boundary=i',
  };
  test.each<[what: string, reason: string, options: () => UploadOptions]>([
    ['10,000 parts', 'form_malformed', () => ({ parts: [key, message, file(), ...many(10_000)] })],
    ['a field of 100 MB', 'form_malformed', () => ({ message: 'x'.repeat(100_000_000), media })],
    ['a header bomb', 'form_malformed', () => ({ parts: [key, message, { ...file(), headers: bomb }] })],
    ['a nested form', 'parameter_missing', () => ({ parts: [key, ...secretParts, message, nested] })],
  ])('%s: %s', async (_what, reason, options) => {
    for (const version of [1, 2] as const) {
      const response = await upload(stack, { ...options(), version, format: version === 1 ? 'xml' : 'json' });
      expect(response).toMatchObject({ status: 400, text: expect.stringContaining(reason) });
      expect(response.headers.get('content-type')).toMatch(version === 1 ? 'application/xml' : 'application/json');
    }
  });
});

describe('a malformed HTTP request gets a 4xx with a reason, and the connection closes', () => {
  const bodyOf = () => uploadRequest(stack, { media });
  const head = (lines: string) => `POST /2/upload.xml HTTP/1.1\r\nHost: gateway\r\n${lines}\r\n`;
  const signed = () =>
    Object.entries({ ...bodyOf().headers, ...echoHeaders(stack) })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');

  const withHeaders = (lines: string) => `${head(`${signed()}${lines}\r\n`)}hello`;
  test.each([
    ['two lengths', () => withHeaders('Content-Length: 5\r\nTransfer-Encoding: chunked')],
    ['two Content-Lengths', () => withHeaders('Content-Length: 5\r\nContent-Length: 6')],
    ['an unknown transfer coding', () => withHeaders('Transfer-Encoding: chunked, identity')],
    ['a chunk size that is not a number', () => withHeaders('Transfer-Encoding: chunked')],
    ['a header with a space before its colon', () => withHeaders('Content-Length : 5')],
    ['a bad request line', () => 'POST /2/upload.xml HTTP/1.1 or so\r\n\r\n'],
    ['a header of 20 KB', () => head(`X: ${'x'.repeat(20_000)}\r\n`)],
  ])('%s', async (what, request) => {
    await using client = await RawClient.connect(stack.gateway);
    client.write(request());
    const [status, reason] = what === 'a header of 20 KB' ? [431, 'headers_too_large'] : [400, 'request_malformed'];
    const response = await client.response();
    expect(response).toMatchObject({ status, body: expect.stringContaining(`<reason>${reason}</reason>`) });
    expect(response.head).toMatch(/\r\nx-request-id: /i);
    await waitUntil('the end of the connection', async () => client.closed);
  });

  test.each([
    ['a request that is not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n'],
    ['a target without a path', 'POST http://[::/2/upload.xml HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n'],
  ])('%s is refused as JSON', async (_what, request) => {
    await using client = await RawClient.connect(stack.gateway);
    client.write(request);
    const body = expect.stringContaining('"request_malformed"');
    expect(await client.response()).toMatchObject({ status: 400, body });
  });

  test('a Content-Length that is too small truncates the form; other bytes than a request after it close the connection', async () => {
    const { path, headers, body } = bodyOf();
    await using client = await RawClient.connect(stack.gateway);
    client.head(path, headers, body.length - 20);
    client.write(body);
    expect(await client.response()).toMatchObject({ status: 400, body: expect.stringContaining('form_malformed') });
    expect(client.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await waitUntil('the end of the connection', async () => client.closed);
  });

  test('a complete upload gets its response even if the next pipelined request is malformed', async () => {
    const { path, headers, body } = bodyOf();
    await using client = await RawClient.connect(stack.gateway);
    client.head(path, headers, body.length);
    client.write(Buffer.concat([body, Buffer.from(`${head(`${signed()}Transfer-Encoding: chunked\r\n`)}zz\r\n`)]));
    expect(await client.response()).toMatchObject({ status: 200 });
    before.media += 1;
    before.records += 1;
    await waitUntil('the end of the connection', async () => client.closed);
    expect(client.received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });

  test('CONNECT is refused, and does not suppress the response to the upload before it', async () => {
    await using alone = await RawClient.connect(stack.gateway);
    alone.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    expect(await alone.response()).toMatchObject({ status: 404 });
    const { path, headers, body } = bodyOf();
    await using client = await RawClient.connect(stack.gateway);
    client.head(path, headers, body.length);
    client.write(Buffer.concat([body, Buffer.from('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')]));
    expect(await client.response()).toMatchObject({ status: 200 });
    before.media += 1;
    before.records += 1;
    await waitUntil('the end of the connection', async () => client.closed);
  });

  test('a client that resets its connection after CONNECT does not crash the gateway', async () => {
    for (let n = 0; n < 20; n += 1) {
      const socket = connect(Number(new URL(stack.gateway).port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nmore');
      if (n % 2) await once(socket, 'data');
      socket.resetAndDestroy();
    }
    await using client = await RawClient.connect(stack.gateway);
    client.write('GET /2/upload.json HTTP/1.1\r\nHost: gateway\r\n\r\n');
    expect(await client.response()).toMatchObject({ status: 405 });
  });

  test('a connection closes after CONNECT even if the client keeps sending', async () => {
    const socket = connect({ port: Number(new URL(stack.gateway).port), host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // A client that keeps sending gets a reset.
    socket
      .on('error', () => {})
      .resume()
      .write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nmore');
    await once(socket, 'end');
    const sending = setInterval(() => socket.write('more'), 100);
    await closed;
    clearInterval(sending);
  });

  test('a later request on a connection is refused in its own format', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.write('GET /2/upload.json HTTP/1.1\r\nHost: gateway\r\n\r\n');
    await waitUntil('the first response', async () => client.received.includes('"method_not_allowed"'));
    client.write('POST /2/upload.xml HTTP/1.1\r\nHost: gateway\r\nbad header\r\n\r\n');
    await waitUntil('the second response', async () => client.received.includes('<reason>request_malformed<'));
  });

  test('a malformed body after an early refusal gets no second response', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.write(head('Transfer-Encoding: chunked\r\n'));
    expect(await client.response()).toMatchObject({ status: 401 });
    client.write('zz\r\n');
    await waitUntil('the end of the connection', async () => client.closed);
    expect(client.received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });

  test.each([
    ['two hosts', 'Host: a\r\nHost: b\r\n'],
    ['a host with spaces', 'Host: a b\r\n'],
    ['no host', ''],
  ])('%s', async (_what, hosts) => {
    await using client = await RawClient.connect(stack.gateway);
    client.write(`POST /2/upload.xml HTTP/1.1\r\n${hosts}Content-Length: 0\r\n\r\n`);
    const body = expect.stringContaining('<reason>request_malformed<');
    expect(await client.response()).toMatchObject({ status: 400, body });
  });

  test('HTTP/1.0 with a transfer coding gets the last response of its connection', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.write('GET /openapi.json HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
    expect((await client.response()).status).toBe(200);
    await waitUntil('the end of the connection', async () => client.closed);
  });

  test('an oversized head is refused with 431, in the default format if it arrives in several packets', async () => {
    await using client = await RawClient.connect(stack.gateway);
    await client.flush(Buffer.from(`POST /2/upload.xml HTTP/1.1\r\nHost: gateway\r\nX: ${'x'.repeat(10_000)}`));
    // The gateway accepts the connection before its first response, and reads the packet before the second.
    for (let n = 0; n < 2; n += 1) await state();
    await client.flush(Buffer.from(`${'x'.repeat(10_000)}\r\n\r\n`));
    expect(await client.response()).toMatchObject({
      status: 431,
      body: expect.stringContaining('"reason":"headers_too_large"'),
    });
  });

  test('HTTP/1.0 works', async () => {
    const { path, headers, body } = bodyOf();
    await using client = await RawClient.connect(stack.gateway);
    const lines = Object.entries({ ...headers, 'Content-Length': `${body.length}` }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    client.write(`POST ${path} HTTP/1.0\r\n${lines.join('')}\r\n`);
    client.write(body);
    expect(await client.response()).toMatchObject({ status: 200 });
    before.media += 1;
    before.records += 1;
  });
});

async function state() {
  const metrics = await stack.metrics('gateway');
  return {
    media: (await stack.stored('media')).length,
    records: (await stack.stored('records')).length,
    memory: Number(/^process_resident_memory_bytes\{[^}]*\} (\d+)/m.exec(metrics)?.[1]),
  };
}
