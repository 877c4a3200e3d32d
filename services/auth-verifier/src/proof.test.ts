import { type Provider, readProvider } from '@echodrop/identity-provider/provider';
import { expect, test } from 'vitest';
import { findProvider, isSchemeSupported, tokenIn } from './proof.ts';
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

test.each([
  ['another scheme', (address: string) => address.replace('http:', 'https:')],
  ['upper case', (address: string) => address.toUpperCase()],
  ['an upper-case scheme', (address: string) => address.replace('http', 'HTTP')],
  ['no port', (address: string) => address.replace(/:\d+/, '')],
  ['a leading zero in the port', (address: string) => address.replace(/:(\d+)/, ':0$1')],
  ['another host name', (address: string) => address.replace('127.0.0.1', 'localhost')],
  ['a short form of the host', (address: string) => address.replace('127.0.0.1', '127.1')],
  ['the host as a number', (address: string) => address.replace('127.0.0.1', '2130706433')],
  ['a user', (address: string) => address.replace('//', '//user@')],
  ['backslashes', (address: string) => address.replaceAll('/', '\\')],
  ['a dot segment', (address: string) => address.replace('/1/', '/./1/')],
  ['a parent segment', (address: string) => address.replace('/1/', '/1/../1/')],
  ['an encoded letter', (address: string) => address.replace('verify', '%76erify')],
  ['a trailing slash', (address: string) => `${address}/`],
  ['a query', (address: string) => `${address}?`],
  ['a fragment', (address: string) => `${address}#`],
  ['a leading space', (address: string) => ` ${address}`],
  ['a trailing space', (address: string) => `${address} `],
  ['a tab', (address: string) => address.replace('verify', 'ver\tify')],
  ['a line break', (address: string) => `${address}\n`],
  ['a NUL', (address: string) => `${address}\0`],
  ['quotes', (address: string) => `"${address}"`],
  ['a missing last character', (address: string) => address.slice(0, -1)],
  ['a second address', (address: string) => `${address}, ${address}`],
  ['nothing', () => ''],
  ['a name of a JavaScript property', () => '__proto__'],
])('an address with a variation is unknown: %s', (_, trick) => {
  const address = 'http://127.0.0.1:8085/1/verify.json';
  expect(trick(address)).not.toBe(address);
  expect(find([readProvider(address) as Provider], trick(address))).toBeUndefined();
});

test('the scheme of a header may have other letter case, and a tab behind it', () => {
  const provider = readProvider(advertised) as Provider;
  const isSupported = (authorization: string) =>
    isSchemeSupported({ version: 2, provider: advertised, authorization }, provider);
  for (const header of ['OAuth x', 'oauth x', 'OAUTH x', 'OAuth\tx', 'OAuth']) expect(isSupported(header)).toBe(true);
  for (const header of ['', 'Bearer x', 'Basic eDp5', 'OAuth2 x', 'OAuthx', ' OAuth x', 'Digest a="OAuth"'])
    expect(isSupported(header)).toBe(false);
});

test('1 MB of white space in a token takes linear time (quadratic would take minutes)', () => {
  const token = `x${' '.repeat(2 ** 20)}x`;
  const began = process.threadCpuUsage();
  expect(tokenIn(`Bearer ${token}`)).toBe(token);
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(2000);
});
