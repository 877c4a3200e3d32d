import { once } from 'node:events';
import { connect } from 'node:net';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
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

describe('a hostile form gets a 400 in the requested format', () => {
  const forms: readonly [what: string, reason: string, options: () => UploadOptions][] = [
    ['10,000 parts', 'form_malformed', () => ({ parts: [key, message, file(), ...many(10_000)] })],
    ['a field of 100 MB', 'form_malformed', () => ({ message: 'x'.repeat(100_000_000), media })],
    [
      'a header bomb in a part',
      'form_malformed',
      () => ({
        parts: [
          key,
          message,
          { ...file(), headers: `Content-Disposition: form-data; name="media"\r\n${'X: y\r\n'.repeat(5000)}` },
        ],
      }),
    ],
    [
      'a nested form',
      'parameter_missing',
      () => ({
        parts: [
          key,
          message,
          {
            name: 'files',
            content: '--i\r\nContent-Disposition: file; filename="a"\r\n\r\nx\r\n--i--',
            headers: 'Content-Disposition: form-data; name="files"\r\nContent-Type: multipart/mixed; boundary=i',
          },
        ],
      }),
    ],
    [
      'a NUL in a name',
      'form_malformed',
      () => ({ parts: [key, message, { name: 'me\0dia', filename: 'a', content: media }] }),
    ],
    [
      'a CR in a file name',
      'form_malformed',
      () => ({ parts: [key, message, { name: 'media', filename: 'a\rb', content: media }] }),
    ],
    [
      'an LF in a file name',
      'form_malformed',
      () => ({ parts: [key, message, { name: 'media', filename: 'a\nb', content: media }] }),
    ],
    [
      'names of JavaScript properties',
      'parameter_missing',
      () => ({
        parts: [{ name: '__proto__', content: sandbox.apiKey }, { name: 'constructor', content: 'x' }, file()],
      }),
    ],
    ['two media', 'form_malformed', () => ({ parts: [key, message, file(), file()] })],
    ['two keys', 'form_malformed', () => ({ parts: [key, key, message, file()] })],
    ['a file as the message', 'parameter_missing', () => ({ parts: [key, { ...file(), name: 'message' }, file()] })],
    ['text as the media', 'parameter_missing', () => ({ parts: [key, message, { name: 'media', content: 'text' }] })],
    ['empty media', 'parameter_missing', () => ({ media: Buffer.alloc(0) })],
    [
      'a caption that is not UTF-8',
      'form_malformed',
      () => ({ parts: [key, { name: 'message', content: Buffer.from([0xe4, 0xf6]) }, file()] }),
    ],
    [
      'a caption in another charset',
      'form_malformed',
      () => ({
        parts: [
          key,
          {
            name: 'message',
            content: 'x',
            headers: 'Content-Disposition: form-data; name="message"\r\nContent-Type: text/plain; charset=utf-16',
          },
          file(),
        ],
      }),
    ],
    ['no boundary', 'form_malformed', () => ({ media, headers: { 'Content-Type': 'multipart/form-data' } })],
    [
      'an empty boundary',
      'form_malformed',
      () => ({ media, headers: { 'Content-Type': 'multipart/form-data; boundary=' } }),
    ],
    [
      'a boundary of 71 bytes',
      'form_malformed',
      () => ({ media, headers: { 'Content-Type': `multipart/form-data; boundary=${'b'.repeat(71)}` } }),
    ],
    [
      'another boundary',
      'form_malformed',
      () => ({ media, headers: { 'Content-Type': 'multipart/form-data; boundary=other' } }),
    ],
  ];

  test.each(forms)('%s: %s', async (_what, reason, options) => {
    for (const version of [1, 2] as const) {
      const response = await upload(stack, { ...options(), version, format: version === 1 ? 'xml' : 'json' });
      // Forms that replace all parts lack the secrets of version 1.
      const expected =
        version === 1 && reason === 'parameter_missing' && options().parts ? 'credentials_missing' : reason;
      expect(response.text).toContain(expected);
      expect(response.status).toBe(expected === 'credentials_missing' ? 401 : 400);
      expect(response.headers.get('content-type')).toMatch(version === 1 ? 'application/xml' : 'application/json');
    }
  });

  test.each([1, 70])('a boundary of %i bytes is valid', async (length) => {
    const { path, headers, body } = uploadRequest(stack, { media });
    const boundary = 'B'.repeat(length);
    const old = /boundary=(.*)$/.exec(`${headers['Content-Type']}`)?.[1] ?? '';
    const renamed = Buffer.from(body.toString('latin1').replaceAll(`--${old}`, `--${boundary}`), 'latin1');
    const contentType = `multipart/form-data; boundary=${boundary}`;
    const response = await fetch(`${stack.gateway}${path}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': contentType },
      body: renamed,
    });
    expect(response.status).toBe(200);
    before.media += 1;
    before.records += 1;
  });
});

describe('a malformed HTTP request gets a 4xx with a reason, and the connection closes', () => {
  const bodyOf = () => uploadRequest(stack, { media });
  const head = (lines: string) => `POST /2/upload.xml HTTP/1.1\r\nHost: gateway\r\n${lines}\r\n`;
  const signed = () =>
    Object.entries({ ...bodyOf().headers, ...echoHeaders(stack) })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');

  test.each([
    [
      'Content-Length and Transfer-Encoding together',
      400,
      'request_malformed',
      () => `${head(`${signed()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`)}0\r\n\r\n`,
    ],
    [
      'two Content-Lengths',
      400,
      'request_malformed',
      () => `${head(`${signed()}Content-Length: 5\r\nContent-Length: 6\r\n`)}hello`,
    ],
    [
      'an unknown transfer coding',
      400,
      'request_malformed',
      () => `${head(`${signed()}Transfer-Encoding: chunked, identity\r\n`)}0\r\n\r\n`,
    ],
    [
      'a chunk size that is not a number',
      400,
      'request_malformed',
      () => `${head(`${signed()}Transfer-Encoding: chunked\r\n`)}zz\r\nhello\r\n`,
    ],
    [
      'a header with a space before its colon',
      400,
      'request_malformed',
      () => `${head(`${signed()}Content-Length : 5\r\n`)}hello`,
    ],
    ['a bad request line', 400, 'request_malformed', () => 'POST /2/upload.xml HTTP/1.1 or so\r\n\r\n'],
    ['a header of 20 KB', 431, 'headers_too_large', () => head(`X: ${'x'.repeat(20_000)}\r\n`)],
  ])('%s', async (_what, status, reason, request) => {
    await using client = await RawClient.connect(stack.gateway);
    client.write(request());
    const response = await client.response();
    expect(response).toMatchObject({ status, body: expect.stringContaining(`<reason>${reason}</reason>`) });
    expect(response.head).toMatch(/\r\nx-request-id: /i);
    await waitUntil('the end of the connection', async () => client.closed);
  });

  test('a request that is not HTTP is refused as JSON', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.write('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n');
    expect(await client.response()).toMatchObject({
      status: 400,
      body: expect.stringContaining('"request_malformed"'),
    });
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
    expect(await client.response()).toMatchObject({
      status: 400,
      body: expect.stringContaining('<reason>request_malformed<'),
    });
  });

  test('HTTP/1.0 with a transfer coding gets the last response of its connection', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.write('GET /openapi.json HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
    expect((await client.response()).status).toBe(200);
    await waitUntil('the end of the connection', async () => client.closed);
  });

  test('a target without a path is malformed', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.write('POST http://[::/2/upload.xml HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n');
    expect(await client.response()).toMatchObject({
      status: 400,
      body: expect.stringContaining('"request_malformed"'),
    });
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
