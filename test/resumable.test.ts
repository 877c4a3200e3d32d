import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { anotherUser } from '@echodrop/testkit/another-user';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import {
  base64,
  createTus,
  hasLease,
  holdLease,
  patchTus,
  sendTus,
  tusMetadata,
  waitForLease,
} from '@echodrop/testkit/tus-requests';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const MiB = 1024 * 1024;

let stack: Stack;
let other: Stack;
let photo: Buffer;
beforeAll(async () => {
  photo = Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(2 * MiB)]);
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'],
    settings: { MAX_MEDIA_BYTES: String(16 * MiB) },
  });
  other = await startStack({
    beside: stack,
    services: ['gateway'],
    settings: { MAX_MEDIA_BYTES: String(16 * MiB), PUBLIC_UPLOAD_URL: 'https://up.example/api' },
  });
});
afterAll(async () => {
  await other?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

type Headers = Record<string, string>;

function send(method: string, path: string, headers: Headers = {}, body?: Buffer, gateway = stack.gateway) {
  return sendTus({ gateway, provider: stack.provider }, method, path, headers, body as RequestInit['body']);
}

function createWith(type: string, body: Buffer, more: Headers = {}) {
  const headers = {
    ...more,
    'Upload-Length': `${body.length}`,
    'Upload-Metadata': tusMetadata(),
    'Content-Type': type,
  };
  return send('POST', '/files/', headers, body);
}

const create = (length: number, headers: Headers = {}) => createTus(stack, length, headers);

async function created(length: number, headers: Headers = {}): Promise<string> {
  const { status, headers: received, text } = await create(length, headers);
  expect({ status, text }).toEqual({ status: 201, text: '' });
  return received.get('location') ?? '';
}

function patch(path: string, offset: number, body: Buffer, headers: Headers = {}, gateway = stack.gateway) {
  const { provider } = stack;
  const all = { Prefer: 'return=representation', ...headers };
  return patchTus({ gateway, provider }, path, offset, body as RequestInit['body'], all);
}

/** Sends a piece of an upload, in a request that goes on until it is aborted, or sends the `rest`. */
function sendUnended(path: string, piece: Buffer, signal: AbortSignal, rest?: Promise<Buffer>) {
  const body = (async function* () {
    yield piece;
    yield await (rest ?? once(signal, 'abort').then(() => Buffer.alloc(0)));
  })();
  const headers = {
    ...echoHeaders(stack),
    'Tus-Resumable': '1.0.0',
    'Upload-Offset': '0',
    'Content-Type': 'application/offset+octet-stream',
  };
  const options = { method: 'PATCH', headers, body, duplex: 'half', signal } as const;
  return fetch(new URL(path, stack.gateway), options);
}

async function sizesOfUnfinished(): Promise<number[]> {
  const folder = join(stack.folder, 'store/tmp');
  return Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
}

const reasonOf = ({ status, text }: { status: number; text: string }) =>
  `${status} ${/"reason":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim();

async function leftovers(): Promise<string[]> {
  const folder = join(stack.folder, 'store/objects/resumable');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}

describe('an upload', () => {
  test('in pieces, through two gateways, has one record: of the last PATCH, and of each GET', async () => {
    const path = await created(photo.length);
    expect(path).toMatch(/^\/files\/[0-9a-f]{32}$/);
    const first = photo.subarray(0, 1000);
    const rest = photo.subarray(1000);
    const accepted = await patch(path, 0, first);
    expect(accepted).toMatchObject({ status: 204, text: '' });
    expect(accepted.headers.get('upload-offset')).toBe('1000');
    expect(Date.parse(accepted.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    const head = await send('HEAD', path);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'upload-expires': accepted.headers.get('upload-expires'),
      'upload-offset': '1000',
      'upload-length': `${photo.length}`,
      'upload-metadata': `message ${base64('in pieces')}`,
      'cache-control': 'no-store',
      'tus-resumable': '1.0.0',
    });
    expect(reasonOf(await send('GET', path))).toBe('409 upload_incomplete');
    const last = await patch(path, 1000, rest, {}, other.gateway);
    expect(last).toMatchObject({ status: 200 });
    const record = JSON.parse(last.text);
    expect(record).toMatchObject({ text: 'in pieces', size: photo.length, type: 'jpg' });
    expect(last.headers.get('record-location')).toBe(record.url);
    expect(last.headers.get('preference-applied')).toBe('return=representation');
    for (const gateway of [stack.gateway, other.gateway]) {
      const found = await send('GET', path, {}, undefined, gateway);
      expect(found).toMatchObject({ status: 200, text: last.text });
    }
    expect((await send('HEAD', path)).headers.get('upload-offset')).toBe(`${photo.length}`);
    expect((await patch(path, photo.length, Buffer.alloc(0))).text).toBe(last.text);
    expect(reasonOf(await send('DELETE', path))).toBe('409 upload_published');
  });

  test('is published with the status of the protocol and without a body, if the client prefers no other response', async () => {
    const path = await created(photo.length);
    const { status, text, headers } = await patch(path, 0, photo, { Prefer: 'return=minimal' });
    expect({ status, text }).toEqual({ status: 204, text: '' });
    expect(headers.get('upload-offset')).toBe(`${photo.length}`);
    expect(headers.get('record-location')).toBe(JSON.parse((await send('GET', path)).text).url);
  });

  test.each([undefined, 'return=representation'])('may come with its creation, preferring %s', async (preferred) => {
    const headers: Headers = preferred === undefined ? {} : { Prefer: preferred };
    const response = await createWith('application/offset+octet-stream', photo, headers);
    const record = (await send('GET', response.headers.get('location') ?? '')).text;
    expect(response).toMatchObject({ status: 201, text: preferred === undefined ? '' : record });
    expect(response.headers.get('record-location')).toBe(JSON.parse(record).url);
    expect(response.headers.get('upload-offset')).toBe(`${photo.length}`);
  });

  test('may declare its length later', async () => {
    const deferred = await send('POST', '/files/', { 'Upload-Defer-Length': '1', 'Upload-Metadata': tusMetadata() });
    const path = deferred.headers.get('location') ?? '';
    expect((await patch(path, 0, photo)).status).toBe(204);
    expect((await send('HEAD', path)).headers.get('upload-defer-length')).toBe('1');
    const last = await patch(path, photo.length, Buffer.alloc(0), { 'Upload-Length': `${photo.length}` });
    expect(last.status).toBe(200);
  });

  test('keeps what has arrived when its connection breaks', async () => {
    const path = await created(photo.length);
    const half = photo.subarray(0, Math.floor(photo.length / 2));
    const gone = new AbortController();
    const sending = sendUnended(path, half, gone.signal);
    await waitUntil('the bytes on disk', async () => (await sizesOfUnfinished()).includes(half.length));
    gone.abort();
    await expect(sending).rejects.toThrow();
    const head = async () => {
      // A busy gateway may need longer to release it than the other one waits.
      const wasLeased = await hasLease(stack, path);
      const { status, headers } = await send('HEAD', path, {}, undefined, other.gateway);
      return { status, offset: Number(headers.get('upload-offset')), wasLeased };
    };
    let found = await head();
    while (found.status === 423 && found.wasLeased) found = await head();
    const { status, offset } = found;
    expect({ status, offset }).toEqual({ status: 200, offset: half.length });
    expect((await patch(path, offset, photo.subarray(offset), {}, other.gateway)).status).toBe(200);
  });

  test('is published once with an idempotency key, also beside version 2', async () => {
    const headers = { 'Idempotency-Key': '"one"' };
    const a = await created(photo.length, headers);
    const b = await created(photo.length, headers);
    const first = await patch(a, 0, photo);
    expect((await patch(b, 0, photo)).text).toBe(first.text);
    const repeated = await upload(stack, { media: photo, message: 'in pieces', headers });
    expect(repeated).toMatchObject({ status: 200, text: first.text });
  });

  test('with unsupported media is refused, and leaves nothing', async () => {
    const before = await leftovers();
    const text = Buffer.alloc(1000, 'text');
    const path = await created(text.length);
    expect(reasonOf(await patch(path, 0, text))).toBe('415 media_unsupported');
    expect((await send('HEAD', path)).status).toBe(404);
    expect(await leftovers()).toEqual(before);
  });

  test('that was published is not terminated, even if its state does not know it', async () => {
    const path = await created(photo.length);
    const published = await patch(path, 0, photo);
    const folder = join(stack.folder, 'store/objects/resumable', path.split('/').at(-1) ?? '');
    const [state = ''] = await readdir(folder);
    const text = await readFile(join(folder, state), 'utf8');
    await writeFile(join(folder, state), text.replace('"isPublished":true', '"isPublished":false'));
    expect(reasonOf(await send('DELETE', path))).toBe('409 upload_published');
    expect((await send('GET', path)).text).toBe(published.text);
  });

  test('keeps no caption, file name or key once it is published', async () => {
    const caption = 'a caption to forget';
    const name = 'name-to-forget.jpg';
    const key = 'key-to-forget';
    const metadata = `${tusMetadata({ message: caption, alt: caption })},filename ${base64(name)}`;
    const path = await created(photo.length, { 'Upload-Metadata': metadata, 'Idempotency-Key': key });
    const folder = join(stack.folder, 'store/objects/resumable', path.split('/').at(-1) ?? '');
    const kept = async () =>
      (await Promise.all((await readdir(folder)).map((each) => readFile(join(folder, each), 'utf8')))).join();
    await patch(path, 0, photo.subarray(0, 1000));
    for (const text of [caption, base64(name), key]) expect(await kept()).toContain(text);
    const published = await patch(path, 1000, photo.subarray(1000));
    for (const text of [caption, base64(caption), base64(name), key]) expect(await kept()).not.toContain(text);
    expect((await send('GET', path)).text).toBe(published.text);
    expect((await send('HEAD', path)).headers.get('upload-offset')).toBe(`${photo.length}`);
  });

  test('passes through two proxies', async () => {
    expect((await create(photo.length, { 'X-Forwarded-Proto': 'https,http' })).status).toBe(201);
  });

  test('a body that nothing needs is read up to a limit', async () => {
    await using client = await RawClient.connect(stack.gateway);
    client.head('/files/', { 'X-HTTP-Method-Override': 'OPTIONS' });
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MiB), Buffer.from('\r\n')]);
    let sent = 0;
    for (; !client.closed && sent < 200; sent += 1) await client.flush(chunk);
    expect(sent).toBeLessThan(100);
  });

  test('is gone after its termination', async () => {
    const path = await created(photo.length);
    await patch(path, 0, photo.subarray(0, 1000));
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('HEAD', path)).status).toBe(404);
  });
});

describe('bad input is refused, and changes nothing', () => {
  let path: string;
  beforeAll(async () => {
    path = await created(photo.length);
    await patch(path, 0, photo.subarray(0, 10));
  });
  const some = Buffer.alloc(10, 1);

  const tooLong = 'The file exceeds the size limit of 16 MiB.';
  const noBase64 = 'Upload-Metadata must be a list of names, each with a UTF-8 value in Base64.';
  const noOffset = 'The header Upload-Offset is missing or malformed.';
  const tooManyBytes = 'The body has more bytes than are left of Upload-Length.';
  const metadata = (text: string) => create(9, { 'Upload-Metadata': text });

  // test/openapi.test.ts provokes every reason. Here, each has a status and, if it follows, the message.
  test.each<[string, string, () => Promise<{ status: number; text: string }>]>([
    ['a wrong offset', '409 offset_conflict', () => patch(path, 11, some)],
    ['no offset', `400 tus_malformed ${noOffset}`, () => patch(path, 0, some, { 'Upload-Offset': '' })],
    ['another content type', '415 tus_content_type', () => patch(path, 10, some, { 'Content-Type': 'text/plain' })],
    ['a creation with bytes of another type', '415 tus_content_type', () => createWith('text/plain', some)],
    ['more than the length', `413 media_too_large ${tooManyBytes}`, () => patch(path, 10, photo)],
    ['a wrong checksum', '460 checksum_mismatch', () => patch(path, 10, some, { 'Upload-Checksum': 'sha1 eA==' })],
    ['an unknown checksum', '400 checksum_unsupported', () => patch(path, 10, some, { 'Upload-Checksum': 'crc99 A' })],
    ['an unknown upload', '404', () => send('HEAD', `/files/${'0'.repeat(32)}`)],
    ['an upload id that is none', '404', () => send('HEAD', '/files/..%2fx')],
    ['another version', '412 tus_version', () => send('PATCH', path, { 'Tus-Resumable': '0.2.2' })],
    ['no length', '400 tus_malformed', () => send('POST', '/files/', { 'Upload-Metadata': tusMetadata() })],
    ['a length and a deferred one', '400 tus_malformed', () => create(9, { 'Upload-Defer-Length': '1' })],
    ['a length of an upload that has one', '400 tus_malformed', () => patch(path, 10, some, { 'Upload-Length': '99' })],
    ['a length beyond the limit', `413 media_too_large ${tooLong}`, () => create(16 * MiB + 1)],
    ['no bytes', '400 parameter_missing', () => create(0)],
    ['no message', '400 parameter_missing', () => metadata(`key ${base64(sandbox.apiKey)}`)],
    [
      'no key',
      '400 parameter_missing Missing parameter: key. Received: filename, filetype.',
      () => metadata('filename YQ==,filetype YQ=='),
    ],
    ['an unknown key', '401 api_key_unknown', () => metadata(tusMetadata({ key: 'wrong' }))],
    ['too long an `alt`', '400 form_malformed', () => metadata(tusMetadata({ alt: 'a'.repeat(1501) }))],
    ['parts of an upload', '400 tus_malformed', () => create(9, { 'Upload-Concat': 'partial' })],
    ['no Base64', `400 tus_malformed ${noBase64}`, () => metadata(`key ${sandbox.apiKey}`)],
    ['a text that is no UTF-8', `400 tus_malformed ${noBase64}`, () => metadata('message /w==')],
    ['no credentials', '401 credentials_missing', () => create(9, { 'X-Auth-Service-Provider': '' })],
    ['another method', '405 method_not_allowed', () => send('PUT', path)],
  ])('%s: %s', async (_, expected, act) => {
    const response = await act();
    const message = /"message":"([^"]*)"/.exec(response.text)?.[1];
    expect([reasonOf(response), `${reasonOf(response)} ${message}`]).toContain(expected);
    expect((await send('HEAD', path)).headers.get('upload-offset')).toBe('10');
  });

  test.each([
    ['sha1 ', ''],
    ['SHA1  ', '='],
  ])('a right checksum is accepted: %j, without %j', async (algorithm, padding) => {
    const whole = await created(photo.length);
    const sum = createHash('sha1').update(photo).digest('base64').replace(padding, '');
    expect((await patch(whole, 0, photo, { 'Upload-Checksum': `${algorithm}${sum}` })).status).toBe(200);
  });
});

describe('what clients write differently, and HTTP allows, is understood', () => {
  test.each(['/files', '//files/', '//files'])('the address %s', async (address) => {
    const headers = { 'Upload-Length': `${photo.length}`, 'Upload-Metadata': tusMetadata() };
    const { status, headers: received } = await send('POST', `${stack.gateway}${address}`, headers);
    expect(status).toBe(201);
    expect(Date.parse(received.get('upload-expires') ?? '')).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect(received.get('location')).toMatch(/^\/files\/[0-9a-f]{32}$/);
  });

  test('a creation with an empty chunked body, but not with bytes of another type', async () => {
    const headers = { 'Upload-Length': `${photo.length}`, 'Upload-Metadata': tusMetadata() };
    const withBody = async (...chunks: string[]) => {
      const body = Readable.toWeb(Readable.from(chunks.map((chunk) => Buffer.from(chunk))));
      return reasonOf(await sendTus(stack, 'POST', '/files/', headers, body as RequestInit['body']));
    };
    expect(await withBody()).toBe('201');
    expect(await withBody('x')).toBe('415 tus_content_type');
  });
});

test('a gateway that knows its public address has it in Location', async () => {
  const target = { gateway: other.gateway, provider: stack.provider };
  const address = (await createTus(target, photo.length)).headers.get('location') ?? '';
  expect(address).toMatch(/^https:\/\/up\.example\/api\/files\/[0-9a-f]{32}$/);
  const media = await samplePhoto('jpg', { width: 8, height: 8 });
  const type = { 'Content-Type': 'application/offset+octet-stream' };
  const whole = { ...type, 'Upload-Length': `${media.length}`, 'Upload-Metadata': tusMetadata() };
  const published = await sendTus(target, 'POST', '/files/', whole, media as RequestInit['body']);
  expect(published.headers.get('location')).toMatch(/^https:\/\/up\.example\/api\/files\/[0-9a-f]{32}$/);
});

describe('the protocol: a server', () => {
  test('says the version in every response, and the versions it has if the client has another', async () => {
    const unknown = await send('HEAD', `/files/${'0'.repeat(32)}`);
    expect(Object.fromEntries(unknown.headers)).toMatchObject({
      'tus-resumable': '1.0.0',
      'cache-control': 'no-store',
    });
    expect(unknown.headers.has('upload-offset')).toBe(false);
    const other = await send('POST', '/files/', { 'Tus-Resumable': '0.2.2' });
    expect(Object.fromEntries(other.headers)).toMatchObject({ 'tus-resumable': '1.0.0', 'tus-version': '1.0.0' });
  });

  test('takes the method from X-HTTP-Method-Override', async () => {
    const path = await created(photo.length);
    const type = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
    const override = { 'X-HTTP-Method-Override': 'PATCH', ...type };
    expect((await send('POST', path, override, photo.subarray(0, 10))).status).toBe(204);
  });

  test('refuses a declared length beyond the limit, or below the offset, and accepts one once', async () => {
    const deferred = { 'Upload-Metadata': tusMetadata(), 'Upload-Defer-Length': '1' };
    const path = (await send('POST', '/files/', deferred)).headers.get('location') ?? '';
    await patch(path, 0, photo.subarray(0, 10));
    const declare = async (length: number) =>
      reasonOf(await patch(path, 10, Buffer.alloc(0), { 'Upload-Length': `${length}` }));
    expect(await declare(16 * MiB + 1)).toBe('413 media_too_large');
    expect(await declare(9)).toBe('400 tus_malformed');
    const { headers } = await send('HEAD', path);
    expect(headers.get('upload-defer-length')).toBe('1');
    expect(headers.has('upload-length')).toBe(false);
    expect(await declare(photo.length)).toBe('204');
    expect(await declare(photo.length + 1)).toBe('400 tus_malformed');
  });
});

test('OPTIONS describes the server', async () => {
  const { status, headers } = await send('OPTIONS', '/files/');
  expect(status).toBe(204);
  expect(Object.fromEntries(headers)).toMatchObject({
    'tus-version': '1.0.0',
    'tus-max-size': `${16 * MiB}`,
    'tus-extension': 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
    'tus-checksum-algorithm': 'sha1,sha256,md5',
  });
});

test('while one writer sends, a second one gets 423, and another user 404 as ever', async () => {
  const path = await created(photo.length);
  const rest = Promise.withResolvers<Buffer>();
  const first = sendUnended(path, photo.subarray(0, 1000), new AbortController().signal, rest.promise);
  await waitForLease(stack, path);
  // Keys of Redis name no user.
  expect(await stack.redis.command('KEYS', '*')).not.toContain(stack.provider);
  expect((await send('HEAD', path, anotherUser(stack))).status).toBe(404);
  rest.resolve(photo.subarray(1000));
  expect((await first).status).toBe(204);

  // Without a client, which would have to send something every second.
  const held = await created(photo.length);
  const lease = await holdLease(stack, held);
  expect((await send('HEAD', held, anotherUser(stack))).status).toBe(404);
  expect(reasonOf(await patch(held, 0, photo, {}, other.gateway))).toBe('423 upload_locked');
  await lease[Symbol.asyncDispose]();
  expect((await patch(held, 0, photo, {}, other.gateway)).status).toBe(200);
});
