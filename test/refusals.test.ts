import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { secretParts, type UploadOptions, upload, wrongEchoHeaders } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const maxMediaBytes = 3 * 1024 * 1024;
const KiB = 1024;

let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  media = await samplePhoto('jpg', { width: 32, height: 32 });
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'],
    settings: { MAX_MEDIA_BYTES: `${maxMediaBytes}` },
  });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

const key = { name: 'key', content: sandbox.apiKey };
const message = { name: 'message', content: 'hello' };
const file = (content: Buffer) => ({ name: 'media', filename: 'a.jpg', content });
const photo = () => file(media);
const unknownKey = { name: 'key', content: 'unknown' };
const tooLarge = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(maxMediaBytes - 2)]);
const tooLargeBody = Buffer.alloc(maxMediaBytes + 1100 * KiB);
const refusedSecrets = secretParts.map((part) => (part.name === 'oauth_secret' ? { ...part, content: 'wrong' } : part));
const emptySecret = [{ name: 'consumer_token', content: '' }, ...secretParts.slice(1)];
const unknownProvider = { 'X-Auth-Service-Provider': 'https://example.org/' };
const malformedType = { 'Content-Type': 'text/plain' };

// A row may break several rules; the first in the order of docs/reference/interface.md is reported. test/openapi.test.ts has a plain case of each
// reason, in XML too.
const refusals: Readonly<Record<string, () => UploadOptions>> = {
  '2: no provider header: 401 credentials_missing': () => ({ headers: { 'X-Auth-Service-Provider': '' } }),
  '2: an unknown provider, and a body that is too large: 401 provider_unknown': () => ({
    media: tooLargeBody,
    headers: unknownProvider,
  }),
  '2: a wrong signature, and a body that is too large: 413 media_too_large': () => ({
    media: tooLargeBody,
    headers: wrongEchoHeaders(stack),
  }),
  '2: a wrong signature in a malformed form: 401 credentials_refused': () => ({
    headers: { ...wrongEchoHeaders(stack), ...malformedType },
  }),
  '2: media twice: 400 form_malformed': () => ({ parts: [key, message, photo(), photo()] }),
  '2: no media: 400 parameter_missing': () => ({}),
  '2: empty media: 400 parameter_missing': () => ({ media: Buffer.alloc(0) }),
  '2: media as text: 400 parameter_missing': () => ({ parts: [key, message, { name: 'media', content: 'text' }] }),
  '2: no media, and an unknown key: 400 parameter_missing': () => ({ parts: [unknownKey, message] }),
  '2: an unknown key, and media too large: 401 api_key_unknown': () => ({
    parts: [unknownKey, message, file(tooLarge)],
  }),
  '2: media too large by one byte: 413 media_too_large': () => ({ media: tooLarge }),
  '1: a missing secret: 401 credentials_missing': () => ({ parts: [key, message, photo(), ...secretParts.slice(1)] }),
  '1: an empty secret: 401 credentials_missing': () => ({ parts: [key, message, photo(), ...emptySecret] }),
  '1: secrets missing in a malformed form: 400 form_malformed': () => ({ parts: [key, key] }),
  '1: a refused user, and no message: 400 parameter_missing': () => ({ parts: [key, ...refusedSecrets, photo()] }),
  '1: a refused user, and an unknown key: 401 api_key_unknown': () => ({
    parts: [unknownKey, ...refusedSecrets, message, photo()],
  }),
  '1: a refused user, and media too large: 401 credentials_refused': () => ({
    parts: [key, ...refusedSecrets, message, file(tooLarge)],
  }),
  '1: media too large by one byte: 413 media_too_large': () => ({ media: tooLarge }),
};

test.each(Object.entries(refusals))('%s', async (name, options) => {
  const [, version, status, reason] = /^([12]): .*: (\d+) (\w+)$/.exec(name) ?? [];
  const response = await upload(stack, { version: version === '1' ? 1 : 2, ...options() });
  expect(`${response.status} ${response.text}`).toContain(
    `${status} {"errors":[{"code":${status},"reason":"${reason}",`,
  );
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  expect(response.headers.get('www-authenticate')).toBe(status === '401' ? 'OAuth' : null);
});

test.each([
  [1, 'the fields consumer_token', { parts: [key, message] }],
  [2, 'the header X-Verify-Credentials-Authorization', { headers: { 'X-Verify-Credentials-Authorization': '' } }],
] as const)('version %i: missing credentials are named as that version needs them', async (version, named, options) => {
  const { text } = await upload(stack, {
    version,
    ...options,
    ...('parts' in options && { parts: [...options.parts] }),
  });
  expect(text).toContain(`Missing credentials: send ${named}`);
});

test('accepts the largest media, the longest field, 100 parts and an empty message', async () => {
  const largest = Buffer.concat([media, Buffer.alloc(maxMediaBytes - media.length)]);
  const tags = Array.from({ length: 96 }, () => ({ name: 'tag', content: '' }));
  const long = { name: 'message', content: 'm'.repeat(64 * KiB) };
  const ignored = { name: 'other', filename: 'b.txt', content: 'not media' };
  const response = await upload(stack, { parts: [...tags, ignored, key, long, file(largest)] });
  expect(response).toMatchObject({ status: 200, text: expect.stringContaining(`"size":${maxMediaBytes},`) });
  expect((await upload(stack, { media, message: '' })).status).toBe(200);
});

test.each([
  ['GET', '/2/upload.json', 405, 'method_not_allowed'],
  ['PUT', '/1/upload.json', 405, 'method_not_allowed'],
  ['POST', '/3/upload.json', 404, 'not_found'],
  ['POST', '/2/upload.gif', 404, 'not_found'],
  ['POST', '/2/upload.JSON', 404, 'not_found'],
  ['POST', '/2/upload.json/', 404, 'not_found'],
  ['GET', '/2', 404, 'not_found'],
  ['GET', '/%', 404, 'not_found'],
])('%s %s is refused with %i %s', async (method, path, status, reason) => {
  const response = await fetch(`${stack.gateway}${path}`, { method });
  expect(response.status).toBe(status);
  expect(response.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
  expect(await response.json()).toMatchObject({ errors: [{ code: status, reason }] });
});
