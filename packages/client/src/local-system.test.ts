import { expect, test } from 'vitest';
import { localAddress, localProvider } from './local-system.ts';

test('with an empty environment everything is on its usual port on loopback', () => {
  expect(localAddress('gateway', {})).toBe('http://127.0.0.1:8080');
  expect(localProvider({})).toBe('http://127.0.0.1:8085/1/account/verify_credentials.json');
});

test("a bare PORT is the gateway's alone, and its own variable stands above it", () => {
  expect(localAddress('gateway', { PORT: '1' })).toBe('http://127.0.0.1:1');
  expect(localAddress('gateway', { PORT: '1', GATEWAY_PORT: '2' })).toBe('http://127.0.0.1:2');
  expect(localAddress('site', { PORT: '1' })).toBe('http://127.0.0.1:8081');
  expect(localAddress('auth-verifier', { AUTH_VERIFIER_PORT: '3' })).toBe('http://127.0.0.1:3');
});

test('a host that means every interface is asked on loopback, another one under its name', () => {
  expect(localAddress('site', { HOST: '0.0.0.0' })).toBe('http://127.0.0.1:8081');
  expect(localAddress('site', { HOST: '::' })).toBe('http://[::1]:8081');
  expect(localAddress('site', { HOST: '10.0.0.1', SITE_HOST: '10.0.0.2' })).toBe('http://10.0.0.2:8081');
});

test('an empty variable counts as absent', () => {
  expect(localAddress('gateway', { PORT: '', GATEWAY_PORT: '', HOST: '' })).toBe('http://127.0.0.1:8080');
});
