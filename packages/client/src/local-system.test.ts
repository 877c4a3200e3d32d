import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  configuredProvider,
  hasSandboxUser,
  localAddress,
  localApiKey,
  localService,
  sandboxProvider,
} from './local-system.ts';

test('an empty environment gives the default ports on loopback', () => {
  expect(localAddress('gateway', {})).toBe('http://127.0.0.1:8080');
  expect(localService({})).toBe('http://127.0.0.1:8080');
  expect(sandboxProvider({})).toBe('http://127.0.0.1:8085/api/v1/accounts/verify_credentials');
});

test('PORT applies to the gateway only, and GATEWAY_PORT overrides it', () => {
  expect(localAddress('gateway', { PORT: '1' })).toBe('http://127.0.0.1:1');
  expect(localAddress('gateway', { PORT: '1', GATEWAY_PORT: '2' })).toBe('http://127.0.0.1:2');
  expect(localAddress('site', { PORT: '1' })).toBe('http://127.0.0.1:8081');
  expect(localAddress('auth-verifier', { AUTH_VERIFIER_PORT: '3' })).toBe('http://127.0.0.1:3');
});

test('the address of a listener on all interfaces is loopback', () => {
  expect(localAddress('site', { HOST: '0.0.0.0' })).toBe('http://127.0.0.1:8081');
  expect(localAddress('site', { HOST: '::' })).toBe('http://[::1]:8081');
  expect(localAddress('site', { HOST: '10.0.0.1', SITE_HOST: '10.0.0.2' })).toBe('http://10.0.0.2:8081');
});

test('empty counts as unset', () => {
  expect(localAddress('gateway', { PORT: '', GATEWAY_PORT: '', HOST: '' })).toBe('http://127.0.0.1:8080');
  expect(localApiKey({ API_KEYS: '', API_KEYS_FILE: '' })).toBe('sandbox-key');
  expect(hasSandboxUser({ IDENTITY_PROVIDERS: '' })).toBe(true);
});

test.each([
  ['/', ''],
  ['/api/,/', '/api'],
  [' ,/a/b', '/a/b'],
])('uses the first base path: %j', (paths, path) => {
  expect(localService({ BASE_PATHS: paths })).toBe(`http://127.0.0.1:8080${path}`);
  expect(localService({ BASE_PATHS: '/other', GATEWAY_BASE_PATHS: paths })).toBe(`http://127.0.0.1:8080${path}`);
});

test.each([
  ['plain', 'plain'],
  [' , first, second', 'first'],
  ['app.one=first,second', 'first'],
  ['app=first=', 'first='],
  ['first=', 'first='],
])('uses the first API key, named or not: %j', (list, key) => {
  expect(localApiKey({ API_KEYS: list })).toBe(key);
  expect(localApiKey({ API_KEYS: 'other', GATEWAY_API_KEYS: list })).toBe(key);
});

test('reads API keys from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'local-system-'));
  try {
    writeFileSync(join(folder, 'keys'), 'app=first,second\n');
    expect(localApiKey({ API_KEYS_FILE: join(folder, 'keys') })).toBe('first');
    expect(() => localApiKey({ API_KEYS_FILE: join(folder, 'none') })).toThrow(join(folder, 'none'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['https://id.example/verify', 'https://id.example/verify'],
  ['https://id.example/verify=http://10.0.0.1/verify,https://other.example', 'https://id.example/verify'],
  ['oauth1 https://id.example/verify?a=b', 'https://id.example/verify?a=b'],
])("clients use the first identity provider, which has no known user: '%s'", (list, address) => {
  for (const env of [{ IDENTITY_PROVIDERS: list }, { AUTH_VERIFIER_IDENTITY_PROVIDERS: list }]) {
    expect(configuredProvider(env)).toBe(address);
    expect(hasSandboxUser(env)).toBe(false);
  }
});

test('a sandbox with a users file has no known user', () => {
  for (const env of [{ SANDBOX_USERS_FILE: 'users.json' }, { SANDBOX_PROVIDER_SANDBOX_USERS_FILE: 'users.json' }]) {
    expect(hasSandboxUser(env)).toBe(false);
    expect(configuredProvider(env)).toBeUndefined();
  }
});
