import { expect, test } from 'vitest';
import { respond, startFakeService } from '../../service.fixture.ts';
import { describeError } from '../describe-error.ts';
import { prepareClient } from './authorization-client.ts';

const redirectUri = 'http://127.0.0.1/sign-in/town';

test.each([
  [{ authorization_endpoint: 'nonsense' }, /^The field authorization_endpoint in .* Town .* is not a URL\. Report/],
  [{ authorization_endpoint: 'file:///tmp/a' }, /^The URL of the authorization endpoint must start with https:.*file:/],
  [{ authorization_endpoint: 'http://id.example/a' }, /^The URL of the authorization endpoint must start with https:/],
  [{ token_endpoint: null }, /^The field token_endpoint in .* Town .* is not a URL\. Report/],
  [{ token_endpoint: 'http://id.example/t' }, /^The URL of the token endpoint must start with https:/],
  [{ token_endpoint: 'https://' }, /^The field token_endpoint in .* is not a URL/],
  [{ issuer: 'https://other.example' }, /^Cannot use the OpenID Connect metadata of Town .* report this .* "issuer"/],
])('the error for the metadata %j names provider, field and what to do', async (odd, message) => {
  await using provider = await startFakeService();
  const issuer = provider.address;
  const metadata = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, ...odd };
  provider.responses = [respond(200, JSON.stringify(metadata), { 'Content-Type': 'application/json' })];
  const site = { name: 'Town', profile: 'oidc', provider: issuer, issuer, clientId: 'public' } as const;
  expect(await prepareClient(site, redirectUri).then(() => '', describeError)).toMatch(message);
});

test('a token of an issuer goes to no other server than its own ones', async () => {
  await using provider = await startFakeService();
  await using other = await startFakeService();
  const issuer = provider.address;
  const metadata = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
  const site = { name: 'Town', profile: 'oidc', provider: `${other.address}/u`, issuer, clientId: 'public' } as const;
  const prepareWith = (more: Record<string, unknown>) => {
    const headers = { 'Content-Type': 'application/json' };
    provider.responses = [respond(200, JSON.stringify({ ...metadata, ...more }), headers)];
    return prepareClient(site, redirectUri);
  };
  for (const more of [{}, { userinfo_endpoint: `${issuer}/u` }, { userinfo_endpoint: 7 }])
    await expect(prepareWith(more)).rejects.toThrow(`The site names ${other.address}/u, which is not on a server of`);
  // Some providers have it on another server.
  expect(await prepareWith({ userinfo_endpoint: `${other.address}/u` })).toMatchObject({ scope: 'openid profile' });
});
