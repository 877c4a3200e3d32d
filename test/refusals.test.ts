import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, secretParts, type UploadOptions, upload, wrongEchoHeaders } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

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
const unknownKey = { name: 'key', content: 'unknown' };
const tooLarge = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(maxMediaBytes - 2)]);
const refusedSecrets = secretParts.map((part) => (part.name === 'oauth_secret' ? { ...part, content: 'wrong' } : part));
const without = (name: string) => {
  const headers: Record<string, string> = { ...echoHeaders(stack), [name]: '' };
  return headers;
};

// A row may break several rules; the first in the order of docs/reference/interface.md is reported.
const refusals: readonly [what: string, status: number, reason: string, options: () => UploadOptions][] = [
  [
    '2: no OAuth header',
    401,
    'credentials_missing',
    () => ({ headers: without('X-Verify-Credentials-Authorization') }),
  ],
  ['2: no provider header', 401, 'credentials_missing', () => ({ headers: without('X-Auth-Service-Provider') })],
  [
    '2: an unknown provider',
    401,
    'provider_unknown',
    () => ({ headers: { 'X-Auth-Service-Provider': 'https://example.org/' } }),
  ],
  [
    '2: an unknown provider, and a body that is too large',
    401,
    'provider_unknown',
    () => ({
      media: Buffer.alloc(maxMediaBytes + 1100 * KiB),
      headers: { 'X-Auth-Service-Provider': 'https://example.org/' },
    }),
  ],
  ['2: a wrong signature', 401, 'credentials_refused', () => ({ media, headers: wrongEchoHeaders(stack) })],
  [
    '2: a wrong signature, and a body that is too large',
    413,
    'media_too_large',
    () => ({ media: Buffer.alloc(maxMediaBytes + 1100 * KiB), headers: wrongEchoHeaders(stack) }),
  ],
  [
    '2: a wrong signature in a malformed form',
    401,
    'credentials_refused',
    () => ({ headers: { ...wrongEchoHeaders(stack), 'Content-Type': 'text/plain' } }),
  ],
  [
    '2: not multipart',
    400,
    'form_malformed',
    () => ({ media, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }),
  ],
  ['2: no boundary', 400, 'form_malformed', () => ({ media, headers: { 'Content-Type': 'multipart/form-data' } })],
  ['2: a parameter twice', 400, 'form_malformed', () => ({ parts: [key, message, message, file(media)] })],
  ['2: media twice', 400, 'form_malformed', () => ({ parts: [key, message, file(media), file(media)] })],
  ['2: a field too long', 400, 'form_malformed', () => ({ media, message: 'a'.repeat(64 * KiB + 1) })],
  [
    '2: too many parts',
    400,
    'form_malformed',
    () => ({ parts: [key, message, file(media), ...Array.from({ length: 98 }, () => ({ name: 'tag', content: '' }))] }),
  ],
  ['2: no key', 400, 'parameter_missing', () => ({ parts: [message, file(media)] })],
  ['2: no message', 400, 'parameter_missing', () => ({ parts: [key, file(media)] })],
  ['2: no media', 400, 'parameter_missing', () => ({})],
  ['2: empty media', 400, 'parameter_missing', () => ({ media: Buffer.alloc(0) })],
  ['2: media as text', 400, 'parameter_missing', () => ({ parts: [key, message, { name: 'media', content: 'text' }] })],
  ['2: no media, and an unknown key', 400, 'parameter_missing', () => ({ parts: [unknownKey, message] })],
  ['2: an unknown key', 401, 'api_key_unknown', () => ({ parts: [unknownKey, message, file(media)] })],
  [
    '2: an unknown key, and media too large',
    401,
    'api_key_unknown',
    () => ({ parts: [unknownKey, message, file(tooLarge)] }),
  ],
  ['2: media too large by one byte', 413, 'media_too_large', () => ({ media: tooLarge })],
  ['2: unsupported media', 415, 'media_unsupported', () => ({ media: Buffer.from('not a photo') })],
  [
    '1: a missing secret',
    401,
    'credentials_missing',
    () => ({ version: 1, parts: [key, message, file(media), ...secretParts.slice(1)] }),
  ],
  [
    '1: an empty secret',
    401,
    'credentials_missing',
    () => ({
      version: 1,
      parts: [key, message, file(media), ...secretParts.slice(1), { name: 'consumer_token', content: '' }],
    }),
  ],
  ['1: secrets missing in a malformed form', 400, 'form_malformed', () => ({ version: 1, parts: [key, key] })],
  [
    '1: a refused user, and no message',
    400,
    'parameter_missing',
    () => ({ version: 1, parts: [key, ...refusedSecrets, file(media)] }),
  ],
  [
    '1: a refused user, and an unknown key',
    401,
    'api_key_unknown',
    () => ({ version: 1, parts: [unknownKey, ...refusedSecrets, message, file(media)] }),
  ],
  [
    '1: a refused user',
    401,
    'credentials_refused',
    () => ({ version: 1, parts: [key, ...refusedSecrets, message, file(media)] }),
  ],
  [
    '1: a refused user, and media too large',
    401,
    'credentials_refused',
    () => ({ version: 1, parts: [key, ...refusedSecrets, message, file(tooLarge)] }),
  ],
  ['1: media too large', 413, 'media_too_large', () => ({ version: 1, media: tooLarge })],
  ['1: unsupported media', 415, 'media_unsupported', () => ({ version: 1, media: Buffer.from('not a photo') })],
];

describe.each(refusals)('%s', (_what, status, reason, options) => {
  test(`is refused with ${status} ${reason}, as JSON and as XML`, async () => {
    const json = await upload(stack, { ...options(), format: 'json' });
    expect({ status: json.status, text: json.text }).toMatchObject({
      status,
      text: expect.stringContaining(`"${reason}"`),
    });
    expect(JSON.parse(json.text)).toEqual({ errors: [{ code: status, reason, message: expect.any(String) }] });
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
    expect(json.headers.get('www-authenticate')).toBe(status === 401 ? 'OAuth' : null);

    const xml = await upload(stack, { ...options(), format: 'xml' });
    expect(xml.status).toBe(status);
    expect(xml.text).toMatch(
      new RegExp(
        `^<\\?xml [^>]*\\?><errors><error><code>${status}</code><reason>${reason}</reason><message>[^<]+</message></error></errors>$`,
      ),
    );
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  });
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
