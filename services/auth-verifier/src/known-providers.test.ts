import { expect, test } from 'vitest';
import { KnownProviders, providerOf } from './known-providers.ts';
import { providerProfiles } from './provider-profiles.ts';

const { oauth1 } = providerProfiles;
const advertised = 'https://identity.example/1/verify.json';

test.each([
  [advertised, { advertised, upstream: advertised, profile: oauth1 }],
  [`oauth1 ${advertised}`, { advertised, upstream: advertised, profile: oauth1 }],
  [`${advertised}=http://10.0.0.1:8085/v`, { advertised, upstream: 'http://10.0.0.1:8085/v', profile: oauth1 }],
  [`oauth1 ${advertised}=http://b/`, { advertised, upstream: 'http://b/', profile: oauth1 }],
  [`${advertised}?a=b`, { advertised: `${advertised}?a=b`, upstream: `${advertised}?a=b`, profile: oauth1 }],
])('%s', (entry, provider) => {
  expect(providerOf(entry)).toEqual(provider);
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
])('%j is no provider', (entry) => {
  expect(providerOf(entry)).toBeUndefined();
});

test('providers are found by the very string that is configured', () => {
  const known = new KnownProviders([advertised, 'https://second.example/'].flatMap((entry) => providerOf(entry) ?? []));
  expect(known.advertised).toEqual([advertised, 'https://second.example/']);
  expect(known.find(advertised)?.advertised).toBe(advertised);
  expect(known.find(`${advertised} `)).toBeUndefined();
  expect(known.find('')).toBeUndefined();
  expect(known.firstSigned?.advertised).toBe(advertised);
});

test('where none is configured, none is found', () => {
  const known = new KnownProviders([]);
  expect([known.advertised, known.find(advertised), known.firstSigned]).toEqual([[], undefined, undefined]);
});
