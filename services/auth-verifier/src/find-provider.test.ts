import { type Provider, readProvider } from '@echodrop/identity-provider/provider';
import { expect, test } from 'vitest';
import { findProvider } from './find-provider.ts';
import { fourSecrets } from './replica.fixture.ts';

const advertised = 'https://identity.example/1/verify.json';

function find(known: readonly Provider[], provider: string): string | undefined {
  return findProvider(known, { version: 2, provider, authorization: '' })?.advertised;
}

test('finds providers by the exact configured string', () => {
  const known = [advertised, 'https://second.example/'].map((entry) => readProvider(entry) as Provider);
  expect(find(known, advertised)).toBe(advertised);
  expect(find(known, 'https://second.example/')).toBe('https://second.example/');
  expect(find(known, `${advertised} `)).toBeUndefined();
  expect(find(known, '')).toBeUndefined();
});

test('version 1 uses the first provider with OAuth 1.0a', () => {
  const known = ['oidc https://first.example/', advertised].map((entry) => readProvider(entry) as Provider);
  expect(findProvider(known, fourSecrets)?.advertised).toBe(advertised);
});

test('finds nothing if none is configured', () => {
  expect([find([], advertised), findProvider([], fourSecrets)]).toEqual([undefined, undefined]);
});

test.each<[string | undefined, string[]]>([
  ['https://only.example/', [advertised, 'oidc https://only.example/']],
  [undefined, ['mastodon https://one.example/', 'oidc https://two.example/']],
  // Refused then, because it does not support the scheme.
  [advertised, [advertised]],
])('a bearer token without a provider belongs to %s of %j', (expected, entries) => {
  const known = entries.map((entry) => readProvider(entry) as Provider);
  expect(findProvider(known, { version: 2, authorization: 'Bearer t' })?.advertised).toBe(expected);
});
