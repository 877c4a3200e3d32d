import { readProvider } from '@echodrop/identity-provider/provider';
import { type ProfileName, profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { readCaller } from '@echodrop/identity-provider/read-caller';
import { Secret } from '@echodrop/service/secret';
import type { ListeningServer } from '@echodrop/testkit/servers/listen';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityProvidersAt, sandboxProfiles } from './profiles.ts';
import { builtInSigner, send, startSandbox } from './sandbox.fixture.ts';
import { builtInAccounts } from './users.ts';

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

let sandbox: ListeningServer;
beforeAll(async () => {
  sandbox = await startSandbox(accounts);
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

const addressOf = (name: ProfileName) => sandbox.origin + sandboxProfiles[name].path;

function proofOf(name: ProfileName, user: string): string {
  if (providerProfiles[name].schemes[0] === 'Bearer') return `Bearer ${user}-bearer`;
  return signEcho(addressOf(name), { ...builtInSigner, token: { key: user, secret: `${user}-secret` } });
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

test.each([
  ['mastodon', undefined, 'missing', /^Bearer /],
  ['mastodon', 'Basic bWlhOm1pYQ==', 'missing', /^Bearer /],
  ['oidc', 'Bearer', 'malformed', /^Bearer /],
  ['oidc', 'Bearer a b', 'malformed', /^Bearer /],
  ['matrix', 'Bearer nobody', 'unknown_credentials', /^Bearer /],
  ['wordpress', undefined, 'missing', /^OAuth /],
] as const)('%s refuses: %s', async (name, authorization, fault, challenge) => {
  const response = await get(name, authorization);
  expect([response.status, response.body.error_description]).toEqual([401, fault]);
  expect(response.challenge).toMatch(challenge);
});

test('refuses bearer tokens for signatures, and OAuth tokens as bearer tokens', async () => {
  expect((await get('oauth1', 'Bearer sandbox-bearer')).status).toBe(401);
  expect((await get('matrix', 'Bearer 12345-sandbox')).status).toBe(401);
});
