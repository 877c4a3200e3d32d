import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import type { ListeningServer } from '@echodrop/testkit/servers/listen';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../sandbox.fixture.ts';
import { builtInAccounts } from '../users.ts';
import { signInAt, site } from './sign-in.fixture.ts';

const users = [
  ...builtInAccounts.users,
  { id: 7n, screenName: 'mia', name: 'Mia <3', oauthTokens: [], bearerTokens: [] },
];
let sandbox: ListeningServer;
let at: ReturnType<typeof signInAt>;

beforeAll(async () => {
  sandbox = await startSandbox({ ...builtInAccounts, users });
  at = signInAt(sandbox.origin);
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

async function codeFor(clientId: string, changes: Record<string, string | undefined> = {}, user = 'sandbox') {
  const { target } = await at.decide(await at.authorize(clientId, changes), 'allow', user);
  return target?.searchParams.get('code') ?? '';
}

const read = async <T>(address: string) => (await (await fetch(address)).json()) as T;

const account = async (path: string, token: string) => {
  const response = await fetch(sandbox.origin + path, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.json() };
};

test('Mastodon: a registered application gets a token of the chosen user', async () => {
  const { client_id, client_secret } = await at.register();
  const { response, target } = await at.decide(await at.authorize(client_id), 'allow', 'mia');
  expect(response.status).toBe(303);
  expect(target?.href).toMatch(/^https:\/\/media\.example\/sign-in\?code=/);
  expect(Object.fromEntries(target?.searchParams ?? [])).toMatchObject({ state: 'the-state', iss: sandbox.origin });
  const code = target?.searchParams.get('code') ?? '';
  const { status, body } = await at.token({ client_id, client_secret, code });
  expect([status, body]).toEqual([200, expect.objectContaining({ token_type: 'Bearer', scope: 'profile' })]);
  expect(body).not.toHaveProperty('id_token');
  const { body: user } = await account('/api/v1/accounts/verify_credentials', body['access_token'] ?? '');
  expect(user).toMatchObject({ id: '7', display_name: 'Mia <3' });
});

test('OpenID Connect: the ID token names issuer, user, client and nonce, and its signature fits the published key', async () => {
  const discovered = await read<{ jwks_uri: string }>(`${sandbox.origin}/.well-known/openid-configuration`);
  expect(discovered).toMatchObject({ issuer: sandbox.origin, token_endpoint: `${sandbox.origin}/oauth/token` });
  const redirect_uri = 'http://127.0.0.1:5555/anything';
  const code = await codeFor('echodrop', { redirect_uri, scope: 'openid profile', nonce: 'n' });
  const { body } = await at.token({ client_id: 'echodrop', code, redirect_uri });
  const [head = '', claims = '', signature = ''] = (body['id_token'] ?? '').split('.');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    iss: sandbox.origin,
    sub: '12345',
    aud: 'echodrop',
    nonce: 'n',
  });
  const { keys } = await read<{ keys: [JsonWebKey] }>(discovered.jwks_uri);
  const key = createPublicKey({ key: keys[0], format: 'jwk' });
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(await account('/userinfo', body['access_token'] ?? '')).toMatchObject({ status: 200, body: { sub: '12345' } });
});

test('the consent page names the site, whose public client has no name of its own', async () => {
  const page = await at.authorize('echodrop', { redirect_uri: 'http://127.0.0.1:5555/', scope: 'openid profile' });
  expect(await page.text()).toContain('<strong>Bild &amp; Ton</strong> at <code>http://127.0.0.1:5555</code>');
});

test('a user who denies is sent back without a code', async () => {
  const { client_id } = await at.register();
  const { target } = await at.decide(await at.authorize(client_id), 'deny');
  expect(Object.fromEntries(target?.searchParams ?? [])).toEqual({
    error: 'access_denied',
    error_description: 'The user denied the request',
    state: 'the-state',
    iss: sandbox.origin,
  });
});

test.each<[string, Record<string, string | undefined>]>([
  ['an unknown client', { client_id: 'nobody' }],
  ['no client', { client_id: undefined }],
  ['another redirect URI', { redirect_uri: 'https://evil.example/sign-in' }],
  ['a longer redirect URI', { redirect_uri: `${site}/more` }],
  ['a redirect URI with a query', { redirect_uri: `${site}?a=b` }],
  ['a redirect URI with a user', { redirect_uri: 'https://media.example@evil.example/sign-in' }],
  ['no redirect URI', { redirect_uri: undefined }],
  ['a script', { redirect_uri: 'javascript:alert(1)' }],
])('%s gets an error page and no redirect', async (_what, changes) => {
  const { client_id } = await at.register();
  const response = await at.authorize(client_id, changes);
  expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  expect(await response.text()).toContain('Sign-in failed');
});

test.each<[string, Record<string, string | undefined>, string]>([
  ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
  ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
  ['a scope that was not registered', { scope: 'write' }, 'invalid_scope'],
])('%s is refused at the redirect URI', async (_what, changes, error) => {
  const { client_id } = await at.register();
  const response = await at.authorize(client_id, changes);
  const target = new URL(response.headers.get('location') ?? '');
  expect([target.origin + target.pathname, target.searchParams.get('error')]).toEqual([site, error]);
});

test('on loopback a registered redirect URI may have any port, and no other path or host', async () => {
  const { client_id } = await at.register('http://127.0.0.1/callback');
  const statusOf = async (redirect_uri: string) => (await at.authorize(client_id, { redirect_uri })).status;
  expect(await statusOf('http://127.0.0.1:4711/callback')).toBe(200);
  expect(await statusOf('http://127.0.0.1:4711/other')).toBe(400);
  expect(await statusOf('http://127.0.0.2:4711/callback')).toBe(400);
  expect(await statusOf('https://127.0.0.1:4711/callback')).toBe(400);
});

test('a code works once, for its client and redirect URI, with its verifier', async () => {
  const { client_id, client_secret } = await at.register();
  const other = await at.register();
  const refused = { status: 400, body: { error: 'invalid_grant' } };
  const attempt = async (changes: Record<string, string>) =>
    at.token({ client_id, client_secret, code: await codeFor(client_id), ...changes });
  expect(await attempt({ code_verifier: 'w'.repeat(43) })).toMatchObject(refused);
  expect(await attempt({ redirect_uri: 'https://media.example/other' })).toMatchObject(refused);
  expect(await attempt({ ...other })).toMatchObject(refused);
  expect(await attempt({ code: 'made-up' })).toMatchObject(refused);
  const code = await codeFor(client_id);
  expect((await attempt({ code })).status).toBe(200);
  expect(await attempt({ code })).toMatchObject(refused);
});

test('a wrong secret is refused before the code is used up', async () => {
  const { client_id, client_secret } = await at.register();
  const code = await codeFor(client_id);
  const wrong = await at.token({ client_id, client_secret: 'wrong', code });
  expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  expect((await at.token({ client_id, client_secret, code })).status).toBe(200);
});

test('an application can show its secret with HTTP Basic, and ask whether it is known', async () => {
  const { client_id, client_secret } = await at.register();
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const known = await at.post('/oauth/token', { grant_type: 'client_credentials' }, { authorization });
  expect(known.status).toBe(200);
  expect((await at.token({ client_id: 'forgotten', client_secret })).status).toBe(401);
});

test('a revoked token identifies no user, and only its client can revoke it', async () => {
  const { client_id, client_secret } = await at.register();
  const { body } = await at.token({ client_id, client_secret, code: await codeFor(client_id) });
  const token = body['access_token'] ?? '';
  const statusOf = async () => (await account('/userinfo', token)).status;
  await at.post('/oauth/revoke', { ...(await at.register()), token });
  expect((await at.post('/oauth/revoke', { client_id, client_secret: 'wrong', token })).status).toBe(403);
  expect(await statusOf()).toBe(200);
  expect((await at.post('/oauth/revoke', { client_id, client_secret, token })).status).toBe(200);
  expect(await statusOf()).toBe(401);
});

test.each([
  {},
  { client_name: 'a' },
  { client_name: 'a', redirect_uris: 'urn:ietf:wg:oauth:2.0:oob' },
  { client_name: 'a', redirect_uris: 'javascript:alert(1)' },
  { client_name: 'a', redirect_uris: 'https://media.example/#a' },
  { client_name: 'a', redirect_uris: site, scopes: '<b>' },
  { client_name: 'a'.repeat(201), redirect_uris: site },
])('refuses to register %j', async (fields) => {
  const response = await at.post('/api/v1/apps', fields as Record<string, string>);
  expect([response.status, await response.json()]).toEqual([
    422,
    { error: expect.stringMatching(/^Validation failed: /) },
  ]);
});

test('the consent page shows hostile names as text, and is used once', async () => {
  const { client_id } = await at.register(site, 'profile');
  const named = await at.post('/api/v1/apps', { client_name: '<script>alert(1)</script>', redirect_uris: site });
  const { client_id: odd } = (await named.json()) as { client_id: string };
  const page = await at.authorize(odd);
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https://media.example;");
  const body = await page.text();
  expect(body).not.toContain('<script>');
  expect(body).toContain('Mia &lt;3');

  const text = await (await at.authorize(client_id)).text();
  const submit = () => at.decide(new Response(text), 'allow');
  expect((await submit()).response.status).toBe(303);
  expect((await submit()).response.status).toBe(400);
  expect((await at.decide(await at.authorize(client_id), 'allow', 'nobody')).response.status).toBe(400);
});

test('scripts of other sites can query what Mastodon lets them query, and not the consent page', async () => {
  const preflight = (path: string) =>
    fetch(sandbox.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://media.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
  for (const path of ['/api/v1/accounts/verify_credentials', '/userinfo', '/oauth/token', '/.well-known/x']) {
    const { status, headers } = await preflight(path);
    expect([path, status, headers.get('access-control-allow-headers')]).toEqual([path, 204, 'authorization']);
  }
  for (const path of ['/oauth/authorize', '/behaviour', '/'])
    expect((await preflight(path)).headers.get('access-control-allow-origin')).toBeNull();
});
