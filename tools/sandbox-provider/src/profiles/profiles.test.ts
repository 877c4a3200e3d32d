import { readProvider } from '@echodrop/identity-provider/provider';
import { type ProfileName, profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { readCaller } from '@echodrop/identity-provider/read-caller';
import { Secret } from '@echodrop/service/secret';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningSandbox, send, startSandbox } from '../sandbox.fixture.ts';
import { header, signedFor } from '../sign.fixture.ts';
import { builtInAccounts } from '../users.ts';
import { identityProvidersAt, sandboxProfiles } from './profiles.ts';

const consumer = 'sandbox-consumer-secret';
const large = 1059182745930317825n;
const accounts = {
  ...builtInAccounts,
  users: [
    ...builtInAccounts.users,
    {
      id: large,
      screenName: 'Mia.K',
      name: 'Mia',
      oauthTokens: [{ token: 'mia', secret: 'mia-secret' }],
      bearerTokens: ['mia-bearer'],
    },
    {
      id: '9hptFmUF3ztxYh3Svg',
      screenName: 'ada',
      name: 'Ada',
      oauthTokens: [{ token: 'ada', secret: 'ada-secret' }],
      bearerTokens: ['ada-bearer'],
    },
  ],
};

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ accounts });
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

const addressOf = (name: ProfileName) => sandbox.origin + sandboxProfiles[name].path;

function proofOf(name: ProfileName, user: string): string {
  if (providerProfiles[name].schemes[0] === 'Bearer') return `Bearer ${user}-bearer`;
  return header(signedFor(addressOf(name), { oauth: { oauth_token: user }, secrets: `${consumer}&${user}-secret` }));
}

async function get(name: ProfileName, authorization?: string) {
  const { status, headers, body } = await send(addressOf(name), authorization === undefined ? {} : { authorization });
  return { status, challenge: headers['www-authenticate'], text: body, body: JSON.parse(body) };
}

test.each(profileNames)('%s: Echodrop reads each user, also with large and string ids', async (name) => {
  const provider = identityProvidersAt(sandbox.origin)
    .map(readProvider)
    .find((each) => typeof each !== 'string' && each.advertised === addressOf(name));
  if (typeof provider !== 'object') throw new Error('not among IDENTITY_PROVIDERS');
  expect(provider.profile).toBe(providerProfiles[name]);
  const host = new URL(sandbox.origin).host;
  for (const [user, id, screenName] of [
    ['mia', String(large), { wordpress: 'mia-k' }[name as string] ?? 'Mia.K'],
    ['ada', '9hptFmUF3ztxYh3Svg', 'ada'],
  ] as const) {
    const { status, text } = await get(name, proofOf(name, user));
    const caller = readCaller(text, provider, new Secret('a secret of this test'));
    const inMatrix = `@${screenName.toLowerCase()}:${host}`;
    expect(status).toBe(200);
    expect(caller).toMatchObject(
      name === 'matrix' ? { subject: inMatrix, screenName: inMatrix } : { subject: id, screenName },
    );
  }
});

const fields: Record<ProfileName, Record<string, unknown>> = {
  oauth1: {
    id: 12345,
    id_str: '12345',
    name: 'Robin',
    screen_name: 'sandbox',
    created_at: 'Thu Jan 01 00:00:00 +0000 2026',
    protected: false,
  },
  mastodon: {
    id: '12345',
    username: 'sandbox',
    acct: 'sandbox',
    display_name: 'Robin',
    source: { privacy: 'public' },
  },
  oidc: { sub: '12345', preferred_username: 'sandbox', name: 'Robin', email_verified: false },
  wordpress: { id: 12345, slug: 'sandbox', name: 'Robin', avatar_urls: { 24: expect.any(String) } },
  matrix: { user_id: expect.stringMatching(/^@sandbox:127\.0\.0\.1:\d+$/), device_id: 'SANDBOX', is_guest: false },
};

test.each(profileNames)('%s: the response has fields of the real provider', async (name) => {
  const address = addressOf(name);
  const isBearer = providerProfiles[name].schemes[0] === 'Bearer';
  const { status, body } = await get(name, isBearer ? 'Bearer sandbox-bearer' : header(signedFor(address)));
  expect(status).toBe(200);
  expect(body).toMatchObject(fields[name]);
});

const challenged = 'Bearer realm="sandbox"';

test.each([
  ['mastodon', undefined, 401, { error: 'The access token is invalid' }, /^Bearer .*error="invalid_token"/],
  ['mastodon', 'Bearer nobody', 401, { error: 'The access token is invalid' }, /^Bearer .*error="invalid_token"/],
  ['mastodon', 'Bearer a b', 401, { error: 'The access token is invalid' }, /^Bearer .*error="invalid_token"/],
  ['oidc', undefined, 401, {}, new RegExp(`^${challenged}$`)],
  ['oidc', 'Basic bWlhOm1pYQ==', 401, {}, new RegExp(`^${challenged}$`)],
  ['oidc', 'Bearer nobody', 401, { error: 'invalid_token' }, /^Bearer .*error="invalid_token"/],
  ['oidc', 'Bearer', 400, { error: 'invalid_request' }, /^Bearer .*error="invalid_request"/],
  ['oidc', 'Bearer a b', 400, { error: 'invalid_request' }, /^Bearer .*error="invalid_request"/],
  ['matrix', undefined, 401, { errcode: 'M_MISSING_TOKEN' }, undefined],
  ['matrix', 'Bearer nobody', 401, { errcode: 'M_UNKNOWN_TOKEN' }, undefined],
  ['wordpress', undefined, 401, { code: 'rest_not_logged_in', data: { status: 401 } }, undefined],
  ['wordpress', 'OAuth a="b"', 401, { code: 'json_oauth1_missing_parameter', data: { status: 401 } }, undefined],
] as const)('%s refuses like the real provider: %s', async (name, authorization, status, body, challenge) => {
  const response = await get(name, authorization);
  expect([response.status, response.body]).toEqual([status, expect.objectContaining(body)]);
  if (challenge) expect(response.challenge).toMatch(challenge);
});

test('WordPress refuses a wrong signature, an old timestamp and a used nonce with separate codes', async () => {
  const address = addressOf('wordpress');
  const code = async (authorization: string) => (await get('wordpress', authorization)).body.code;
  const good = header(signedFor(address));
  expect(await code(header(signedFor(addressOf('oauth1'))))).toBe('json_oauth1_signature_mismatch');
  expect(await code(header(signedFor(address, { oauth: { oauth_timestamp: '1700000000' } })))).toBe(
    'json_oauth1_invalid_timestamp',
  );
  expect(await code(header(signedFor(address, { oauth: { oauth_token: 'nobody' } })))).toBe(
    'json_oauth1_consumer_mismatch',
  );
  expect(await code(good)).toBeUndefined();
  expect(await code(good)).toBe('json_oauth1_nonce_already_used');
});

test('refuses bearer tokens for signatures, and OAuth tokens as bearer tokens', async () => {
  expect((await get('oauth1', 'Bearer sandbox-bearer')).status).toBe(401);
  expect((await get('matrix', 'Bearer 12345-sandbox')).status).toBe(401);
});

test('counts requests by profile, proof and behaviour', async () => {
  await using counted = await startSandbox({ behaviour: 'html' });
  await send(counted.origin + sandboxProfiles.matrix.path, { authorization: 'Bearer sandbox-bearer' });
  await send(counted.origin + sandboxProfiles.oidc.path, { authorization: 'Bearer nobody' });
  const { text } = await counted.metrics.exposition();
  expect(text).toContain('{profile="matrix",proof="valid",behaviour="html",service="sandbox-provider"} 1');
  expect(text).toContain('{profile="oidc",proof="unknown_credentials",behaviour="html",service="sandbox-provider"} 1');
  expect(text).not.toContain('bearer');
});
