import { expect, test } from 'vitest';
import { readProvider } from './provider.ts';
import { providerProfiles } from './provider-profiles.ts';

const { oauth1 } = providerProfiles;
const advertised = 'https://identity.example/1/verify.json';

test.each([
  [advertised, { advertised, upstream: advertised, profile: oauth1 }],
  [`oauth1 ${advertised}`, { advertised, upstream: advertised, profile: oauth1 }],
  [`${advertised}=http://10.0.0.1:8085/v`, { advertised, upstream: 'http://10.0.0.1:8085/v', profile: oauth1 }],
  [`oauth1 ${advertised}=http://b/`, { advertised, upstream: 'http://b/', profile: oauth1 }],
  [`oauth1 \t${advertised}`, { advertised, upstream: advertised, profile: oauth1 }],
  [`mastodon ${advertised}`, { advertised, upstream: advertised, profile: providerProfiles.mastodon }],
  [`${advertised}?a=b`, { advertised: `${advertised}?a=b`, upstream: `${advertised}?a=b`, profile: oauth1 }],
])('reads %s', (entry, provider) => {
  expect(readProvider(entry)).toEqual(provider);
});

test.each([
  '',
  'identity.example',
  'ftp://a/',
  'HTTPS://identity.example/',
  'oauth9 https://a/',
  'constructor https://a/',
  'https://',
  'https://a/ b',
  'https://a/=ftp://b/x y',
  'https://user@a/',
  'https://user:password@a/',
  'https://a/#b',
  'https://a/#',
  'https://a/=https://user@b/',
])('refuses %j', (entry) => {
  expect(readProvider(entry)).toBeTypeOf('string');
});
