import { expect, test } from 'vitest';
import { respond, startFakeService } from '../../service.fixture.ts';
import { describeError } from '../describe-error.ts';
import { prepareClient } from './authorization-client.ts';

const redirectUri = 'http://127.0.0.1/sign-in/town';
const common = { name: 'Town', redirectPath: '/sign-in/town' };

test.each(['write', 'read:accounts write:media'])('a site cannot request the scope %j at Mastodon', async (scope) => {
  await using provider = await startFakeService();
  const site = { ...common, profile: 'mastodon', provider: `${provider.address}/verify`, scope } as const;
  await expect(prepareClient(site, redirectUri)).rejects.toThrow(`The site requests the scope "${scope}" at Town.`);
  expect(provider.received).toEqual([]);
});

test.each([
  [{ authorization_endpoint: 'nonsense' }, /^The field authorization_endpoint in .* Town .* is not a URL\. Report/],
  [{ token_endpoint: null }, /^The field token_endpoint in .* Town .* is not a URL\. Report/],
  [{ token_endpoint: 'http://id.example/t' }, /^The URL of the token endpoint must start with https:/],
  [{ issuer: 'https://other.example' }, /^Cannot use the OpenID Connect metadata of Town .* report this .* "issuer"/],
])('the error for the metadata %j names provider, field and what to do', async (odd, message) => {
  await using provider = await startFakeService();
  const issuer = provider.address;
  const metadata = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, ...odd };
  provider.responses = [respond(200, JSON.stringify(metadata), { 'Content-Type': 'application/json' })];
  const site = { ...common, profile: 'oidc', provider: issuer, issuer, clientId: 'public' } as const;
  expect(await prepareClient(site, redirectUri).then(() => '', describeError)).toMatch(message);
});
