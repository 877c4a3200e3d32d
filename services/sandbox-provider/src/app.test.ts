import type { ListeningServer } from '@echodrop/testkit/servers/listen';
import { type Changes, oauthHeader as header, signedParameters } from '@echodrop/testkit/sign-echo';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { builtInSigner, send, startSandbox } from './sandbox.fixture.ts';

let sandbox: ListeningServer;
let origin: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  origin = sandbox.origin;
});

afterAll(() => sandbox?.[Symbol.asyncDispose]());

const path = '/1/account/verify_credentials.json';

function signed({ base = origin + path, ...changes }: Changes & { readonly base?: string } = {}) {
  return signedParameters(base, builtInSigner, changes);
}

async function get(authorization: string | undefined, address = origin + path) {
  const response = await fetch(address, { headers: authorization === undefined ? {} : { authorization } });
  return { status: response.status, body: await response.json() };
}

const user = { id: 12345, id_str: '12345', name: 'Robin', screen_name: 'sandbox' };

test('identifies the user of a signed request', async () => {
  expect(await get(header(signed()))).toMatchObject({ status: 200, body: user });
});

test.each([
  ['provider.example', undefined, `http://provider.example${path}`],
  ['Provider.Example:80', undefined, `http://provider.example${path}`],
  ['provider.example:8085', undefined, `http://provider.example:8085${path}`],
  ['[::1]:8085', undefined, `http://[::1]:8085${path}`],
  ['provider.example', 'https', `https://provider.example${path}`],
  ['provider.example', 'HTTPS', `https://provider.example${path}`],
  ['provider.example:443', 'https', `https://provider.example${path}`],
  ['provider.example:80', 'https', `https://provider.example:80${path}`],
  ['provider.example', 'http', `http://provider.example${path}`],
  ['provider.example', 'ftp', `http://provider.example${path}`],
  ['provider.example', 'https, http', `http://provider.example${path}`],
  ['provider.example', 'https://evil', `http://provider.example${path}`],
])("checks the signature over the requested address: Host '%s', X-Forwarded-Proto '%s'", async (host, proto, base) => {
  const headers = { host, ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }) };
  const { status } = await send(origin + path, { ...headers, authorization: header(signed({ base })) });
  expect(status).toBe(200);
});

test.each(['a@b', 'a/b', 'a?b', 'a#b', '"><script>', 'a b', 'a:b', 'a:99999', '[a]:1', 'ä'])(
  "refuses the Host '%s' without showing it",
  async (host) => {
    for (const target of ['/', path]) {
      const { status, body } = await send(origin + target, { host });
      expect([status, body.includes(host)]).toEqual([400, false]);
    }
  },
);

test.each([
  ['a realm first', () => header({ realm: 'http://example.com/', ...signed() })],
  ['a realm last, with quotes and a comma in it', () => `${header(signed())}, realm="a \\"b\\", c"`],
  ['another order', () => header(Object.fromEntries(Object.entries(signed()).reverse()))],
  ['no white space', () => header(signed(), ',')],
  ['much white space', () => header(signed(), ' \t ,\t  ')],
  ['a comma at the end', () => `${header(signed())},`],
  ['a comma and white space at the end', () => `${header(signed())} , `],
  ['no version', () => header(signed({ without: ['oauth_version'] }))],
  ['the scheme in lower case', () => header(signed()).replace('OAuth', 'oauth')],
  ['an additional signed parameter', () => header(signed({ oauth: { x_own: 'a b' } }))],
])('accepts %s', async (_what, make) => {
  expect(await get(make())).toMatchObject({ status: 200, body: user });
});

test('checks the signature over all query parameters', async () => {
  const query: [string, string][] = [
    ['b', '2'],
    ['b', '1'],
    ['c@', "it's ~ü*()"],
    ['plus', 'a b'],
    ['equals', '='],
    ['empty', ''],
  ];
  const address = `${origin}${path}?b=2&b=1&c%40=it's%20~%C3%BC*()&plus=a+b&equals==&empty`;
  expect((await get(header(signed({ query })), address)).status).toBe(200);
  expect((await get(header(signed({ query: query.slice(1) })), address)).status).toBe(401);
});

test.each([
  ['no header', () => undefined, 'missing'],
  ['another scheme', () => 'Bearer abc', 'malformed'],
  ['no parameters', () => 'OAuth ', 'malformed'],
  ['broken syntax', () => `${header(signed())}, oauth_more`, 'malformed'],
  ['a broken escape', () => `${header(signed())}, more="%E0%A4"`, 'malformed'],
  ['a parameter twice', () => `${header(signed())}, oauth_version="1.0"`, 'malformed'],
  ['no nonce', () => header(signed({ without: ['oauth_nonce'] })), 'malformed'],
  ['no timestamp', () => header(signed({ without: ['oauth_timestamp'] })), 'malformed'],
  ['a version that is not 1.0', () => header(signed({ oauth: { oauth_version: '2.0' } })), 'malformed'],
  ['PLAINTEXT', () => header({ ...signed(), oauth_signature_method: 'PLAINTEXT' }), 'malformed'],
  ['HMAC-SHA256', () => header(signed({ oauth: { oauth_signature_method: 'HMAC-SHA256' } })), 'malformed'],
  ['an unknown consumer', () => header(signed({ oauth: { oauth_consumer_key: 'nobody' } })), 'unknown_credentials'],
  ['an unknown token', () => header(signed({ oauth: { oauth_token: '12345-nobody' } })), 'unknown_credentials'],
  ['a wrong consumer secret', () => header(signed({ secrets: 'wrong&sandbox-token-secret' })), 'signature_invalid'],
  ['a wrong token secret', () => header(signed({ secrets: 'sandbox-consumer-secret&wrong' })), 'signature_invalid'],
  ['no signature', () => header(signed()).replace(/, oauth_signature="[^"]*"/, ''), 'signature_invalid'],
  ['an empty signature', () => header({ ...signed(), oauth_signature: '' }), 'signature_invalid'],
  ['a signature for another address', () => header(signed({ base: `http://example.com${path}` })), 'signature_invalid'],
  ['a parameter changed after signing', () => header({ ...signed(), oauth_nonce: 'another' }), 'signature_invalid'],
])('refuses %s with 401, and says why', async (_what, make, fault) => {
  const body = { error: 'invalid_token', error_description: fault };
  expect(await get(make())).toEqual({ status: 401, body });
});

test('accepts timestamps within five minutes', async () => {
  const now = Math.floor(Date.now() / 1000);
  vi.setSystemTime(now * 1000);
  const at = async (seconds: number) =>
    (await get(header(signed({ oauth: { oauth_timestamp: String(seconds) } })))).status;
  expect(await Promise.all([at(now - 300), at(now + 300)])).toEqual([200, 200]);
  expect(await Promise.all([at(now - 301), at(now + 301)])).toEqual([401, 401]);
});

test('accepts a nonce once per timestamp', async () => {
  const once = header(signed({ oauth: { oauth_nonce: 'the-same' } }));
  expect((await get(once)).status).toBe(200);
  expect((await get(once)).status).toBe(401);
  const oauth_timestamp = String(Math.floor(Date.now() / 1000) - 60);
  expect((await get(header(signed({ oauth: { oauth_nonce: 'the-same', oauth_timestamp } })))).status).toBe(200);
});

test('a wrong signature does not use up the nonce', async () => {
  const good = signed();
  expect((await get(header({ ...good, oauth_signature: 'AAAA' }))).status).toBe(401);
  expect((await get(header(good))).status).toBe(200);
});

test('refuses OAuth parameters in the query', async () => {
  const query: [string, string][] = [['oauth_nonce', 'x']];
  expect((await get(header(signed({ query })), `${origin}${path}?oauth_nonce=x`)).status).toBe(401);
});

test.each(['/1/account/Verify_Credentials.json', `${path}/`, '/2/x', '/%zz'])('has no %s', async (wrong) => {
  expect(await get(undefined, origin + wrong)).toEqual({ status: 404, body: { error: 'Not found' } });
});
