import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RawClient, type RawResponse } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { createTus, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { echoHeaders, secretParts, upload, uploadRequest } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const KiB = 1024;
// The size that requests announce. Only a part of it is sent.
const length = 8 * KiB * KiB;
const text = Buffer.alloc(20 * KiB, 'No photo. ');

const parts = new AsyncDisposableStack();
let stack: Stack;
/** A gateway beside it that refuses JPEG. */
let withoutJpeg: Stack;
let photo: Buffer;

beforeAll(async () => {
  stack = parts.use(await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] }));
  const settings = { MEDIA_TYPES_OFF: 'jpg' };
  withoutJpeg = parts.use(await startStack({ beside: stack, services: ['gateway'], settings }));
  photo = await samplePhoto('jpg', { width: 640, height: 480 });
  expect(photo.length).toBeGreaterThan(16 * KiB);
});
afterAll(() => parts.disposeAsync());

/** Writes to the store so far. */
async function writes({ metrics }: Stack): Promise<number> {
  const calls = (await metrics('gateway')).matchAll(
    /^echodrop_store_call_seconds_count\{.*operation="(put|append)".*\} (\d+)$/gm,
  );
  return [...calls].reduce((sum, [, , count]) => sum + Number(count), 0);
}

const key = { name: 'key', content: sandbox.apiKey };
const message = { name: 'message', content: 'hello' };
const file = (content: Buffer) => ({ name: 'media', filename: 'a', content });

/** Announces a form of more bytes than it sends: the form ends within the file `media`. Waits for the response. */
async function sendBeginning(to: Stack, version: 1 | 2, media: Buffer): Promise<RawResponse> {
  const secrets = version === 1 ? secretParts : [];
  const { path, headers, body } = uploadRequest(to, { version, parts: [...secrets, key, message, file(media)] });
  await using client = await RawClient.connect(to.gateway);
  client.head(path, headers, length);
  client.write(body.subarray(0, body.lastIndexOf('\r\n--')));
  return await client.response();
}

test.each([1, 2] as const)(
  'version %i: media of an unknown type is refused before it was sent, and never stored',
  async (version) => {
    const before = await writes(stack);
    expect(await sendBeginning(stack, version, text)).toMatchObject({
      status: 415,
      body: expect.stringContaining('not a supported photo'),
    });
    expect(await writes(stack)).toBe(before);
  },
);

test.each([1, 2] as const)('version %i: so is media of a type that is off', async (version) => {
  const response = await sendBeginning(withoutJpeg, version, photo);
  expect(response).toMatchObject({ status: 415, body: expect.stringContaining('does not accept jpg files') });
});

test('parameters after the media come first, and the media is not stored', async () => {
  const before = await writes(stack);
  const reasonOf = async (...after: { name: string; content: string }[]) => {
    const response = await upload(stack, { parts: [file(text), ...after] });
    return `${response.status} ${JSON.parse(response.text).errors[0].reason}`;
  };
  expect(await reasonOf(key)).toBe('400 parameter_missing');
  expect(await reasonOf({ ...key, content: 'unknown' }, message)).toBe('401 api_key_unknown');
  expect(await reasonOf(key, message)).toBe('415 media_unsupported');
  expect(await writes(stack)).toBe(before);
});

test('a refused upload counts once against the rate of its key', async () => {
  const settings = { UPLOADS_PER_MINUTE_PER_KEY: '1', API_KEYS: 'rated-key' };
  await using rated = await startStack({ beside: stack, services: ['gateway'], settings });
  const send = () =>
    upload(rated, { parts: [{ ...key, content: 'rated-key' }, message, file(Buffer.from('No photo.'))] });
  expect([(await send()).status, (await send()).status]).toEqual([415, 429]);
});

test('a wrong credential comes first', async () => {
  const wrong = secretParts.map((part) => (part.name === 'oauth_secret' ? { ...part, content: 'wrong' } : part));
  expect((await upload(stack, { version: 1, parts: [file(text), ...wrong, key, message] })).status).toBe(401);
});

test('a repeat gets its record although the type was turned off since', async () => {
  const headers = { 'Idempotency-Key': '"before the type was off"' };
  const first = await upload(stack, { media: photo, headers });
  expect(first.status).toBe(200);
  expect(await upload(withoutJpeg, { media: photo, headers })).toMatchObject({ status: 200, text: first.text });
  expect((await upload(withoutJpeg, { media: photo })).status).toBe(415);
});

async function created(to: Stack): Promise<string> {
  return `${(await createTus(to, length)).headers.get('location')}`;
}

async function expectEnded(path: string): Promise<void> {
  expect((await sendTus(stack, 'HEAD', path)).status).toBe(404);
  const folder = join(stack.folder, 'store/objects/resumable', `${path.split('/').at(-1)}`);
  expect(await readdir(folder).catch(() => [])).toEqual([]);
}

test.each([
  ['an unknown type', () => text, () => stack],
  ['a type that is off', () => photo, () => withoutJpeg],
])('a resumable upload of %s ends while its first bytes arrive', async (_type, media, to) => {
  const path = await created(to());
  const offset = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
  await using client = await RawClient.connect(to().gateway);
  client.head(path, { ...echoHeaders(to()), ...offset, 'X-HTTP-Method-Override': 'PATCH' }, length);
  client.write(media());
  expect(await client.response()).toMatchObject({ status: 415, body: expect.stringContaining('media_unsupported') });
  await expectEnded(path);
});

test('so does one whose first bytes arrive in several requests', async () => {
  const path = await created(stack);
  expect((await patchTus(stack, path, 0, text.subarray(0, 9000))).status).toBe(204);
  expect((await patchTus(stack, path, 9000, text.subarray(9000))).status).toBe(415);
  await expectEnded(path);
});

test('with a checksum, it ends after the first bytes were compared', async () => {
  const path = await created(stack);
  const headers = (bytes: Buffer) => ({
    'Upload-Checksum': `sha1 ${createHash('sha1').update(bytes).digest('base64')}`,
  });
  const changed = Buffer.concat([Buffer.from('X'), photo.subarray(1)]);
  expect((await patchTus(stack, path, 0, changed, headers(photo))).status).toBe(460);
  expect((await patchTus(stack, path, 0, text, headers(text))).status).toBe(204);
  expect((await patchTus(stack, path, text.length, text, headers(text))).status).toBe(415);
  await expectEnded(path);
});
