import { expect, test } from 'vitest';
import { accountName } from '../browser/sign-in/account-name.ts';
import type { WebUpload } from '../site.ts';
import { publicSettings, signedInPolicy, signInSection } from './sign-in-page.ts';

const upload: WebUpload = {
  address: 'https://upload.example/api',
  maxBytes: 1000,
  apiKey: 'web-upload',
  signIn: [
    {
      name: `"Town" & <b>`,
      profile: 'mastodon',
      provider: 'https://town.example/api/v1/accounts/verify_credentials',
      origins: [],
    },
    {
      name: 'Hall',
      profile: 'oidc',
      provider: 'https://id.example/userinfo',
      issuer: 'https://login.example/realms/town',
      clientId: 'echodrop',
      origins: ['https://token.example'],
    },
  ],
};

test('scripts may query this site, the gateway and the configured providers, and nothing else', () => {
  const connect = /connect-src ([^;]*);/.exec(signedInPolicy(upload))?.[1]?.split(' ');
  expect(connect).toEqual([
    "'self'",
    'https://upload.example',
    'https://town.example',
    'https://id.example',
    'https://login.example',
    'https://token.example',
  ]);
  expect(signedInPolicy(upload)).toContain("script-src 'self';");
});

test('public settings have no origins, and no API key if there is none', () => {
  const [town, hall] = publicSettings(upload).providers;
  expect(hall).toEqual({
    name: 'Hall',
    profile: 'oidc',
    provider: 'https://id.example/userinfo',
    issuer: 'https://login.example/realms/town',
    clientId: 'echodrop',
    redirectPath: '/sign-in/25f1f49daccd49bc',
  });
  expect(town).not.toHaveProperty('origins');
  expect(publicSettings({ ...upload, apiKey: undefined, signIn: [] })).toEqual({
    upload: 'https://upload.example/api',
    providers: [],
  });
});

test('each provider has its own redirect URI, which does not depend on the list', () => {
  const paths = (signIn: WebUpload['signIn']) =>
    publicSettings({ ...upload, signIn }).providers.map(({ redirectPath }) => redirectPath);
  expect(new Set(paths(upload.signIn)).size).toBe(2);
  expect(paths(upload.signIn.toReversed())).toEqual(paths(upload.signIn).toReversed());
});

test('names of providers are escaped', () => {
  const section = String(signInSection(upload));
  expect(section).toContain('data-sign-in="0">Sign in with <bdi>&quot;Town&quot; &amp; &lt;b&gt;</bdi></button>');
  expect(section).not.toContain('<b>');
});

test('shows no button without providers', () => {
  expect(String(signInSection({ ...upload, signIn: [] }))).not.toContain('button');
});

test.each([
  [{}, 'ada', 'ada'],
  ['Ada', 7, 'Ada'],
  [undefined, {}, ''],
  ['A'.repeat(500), 'ada', `${'A'.repeat(100)} (ada)`],
])('a name that is no text is ignored, and a long one is shortened (%#)', (name, screenName, shown) => {
  expect(accountName(name, screenName)).toBe(shown);
});
