import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readCommand, UsageError } from './cli-settings.ts';

test('sign defaults to the sandbox of npm start', () => {
  expect(readCommand(['sign'], {})).toEqual({
    name: 'sign',
    provider: 'http://127.0.0.1:8085/1/account/verify_credentials.json',
    credentials: {
      consumerKey: 'sandbox-consumer',
      consumerSecret: 'sandbox-consumer-secret',
      token: '12345-sandbox',
      tokenSecret: 'sandbox-token-secret',
    },
  });
});

test('an option overrides its variable', () => {
  const env = {
    ECHODROP_PROVIDER: 'http://variable.example',
    ECHODROP_TOKEN: 'variable',
    ECHODROP_URL: 'http://gateway/',
  };
  const command = readCommand(['upload', 'a.jpg', '--provider', 'https://option.example/v', '--message', 'hello'], env);
  expect(command).toMatchObject({ provider: 'https://option.example/v', credentials: { token: 'variable' } });
  expect(command).toMatchObject({
    file: resolve('a.jpg'),
    message: 'hello',
    service: 'http://gateway',
    format: 'json',
    version: 2,
  });
});

test('upload defaults match a system with the same environment', () => {
  const env = { PORT: '1', SANDBOX_PROVIDER_PORT: '2', BASE_PATHS: '/api/', API_KEYS: 'app=first,second' };
  expect(readCommand(['upload', 'a.jpg'], env)).toMatchObject({
    service: 'http://127.0.0.1:1/api',
    apiKey: 'first',
    provider: 'http://127.0.0.1:2/1/account/verify_credentials.json',
    credentials: { token: '12345-sandbox' },
  });
  const own = { ...env, ECHODROP_KEY: 'mine', ECHODROP_URL: 'http://elsewhere' };
  expect(readCommand(['upload', 'a.jpg'], own)).toMatchObject({ service: 'http://elsewhere', apiKey: 'mine' });
});

test('requires credentials with another identity provider, and does not sign as the sandbox user', () => {
  const env = { IDENTITY_PROVIDERS: 'https://id.example/verify=http://10.0.0.1/' };
  const secrets = { ECHODROP_CONSUMER_KEY: 'ck', ECHODROP_CONSUMER_SECRET: 'cs', ECHODROP_TOKEN: 't' };
  for (const args of [['sign'], ['upload', 'a.jpg']]) {
    const missing = 'Missing credentials for https://id.example/verify';
    expect(() => readCommand(args, env)).toThrow(missing);
    expect(() => readCommand(args, { ...env, ...secrets })).toThrow(missing);
    expect(readCommand([...args, '--token-secret', 'ts'], { ...env, ...secrets })).toMatchObject({
      provider: 'https://id.example/verify',
      credentials: { consumerKey: 'ck', consumerSecret: 'cs', token: 't', tokenSecret: 'ts' },
    });
  }
});

test("the file is relative to the caller's directory", () => {
  const upload = (file: string) => readCommand(['upload', file], { INIT_CWD: '/home/ada/photos' });
  expect(upload('a.jpg')).toMatchObject({ file: '/home/ada/photos/a.jpg' });
  expect(upload('../a.jpg')).toMatchObject({ file: '/home/ada/a.jpg' });
  expect(upload('/tmp/a.jpg')).toMatchObject({ file: '/tmp/a.jpg' });
});

test('no arguments and --help show the help', () => {
  expect([readCommand([], {}), readCommand(['upload', '--help'], {})]).toEqual([{ name: 'help' }, { name: 'help' }]);
});

test.each([
  [['upload']],
  [['upload', 'a.jpg', 'b.jpg']],
  [['sign', 'a.jpg']],
  [['remove', 'a.jpg']],
  [['sign', '--color', 'red']],
  [['sign', '--provider', 'example.com']],
  [['upload', 'a.jpg', '--url', 'ftp://example.com']],
  [['upload', 'a.jpg', '--format', 'html']],
  [['upload', 'a.jpg', '--api-version', '3']],
])('rejects %j', (args) => {
  expect(() => readCommand(args, {})).toThrow(UsageError);
});

test('a bearer token replaces the OAuth credentials, in version 2 only', () => {
  const provider = 'https://social.example/v';
  expect(readCommand(['sign', '--provider', provider, '--bearer', 't'], {})).toEqual({
    name: 'sign',
    provider,
    credentials: { bearer: 't' },
  });
  expect(readCommand(['upload', 'a.jpg'], { ECHODROP_BEARER: 't' })).toMatchObject({ credentials: { bearer: 't' } });
  expect(() => readCommand(['upload', 'a.jpg', '--bearer', 't', '--api-version', '1'], {})).toThrow(
    'API version 1 does not support bearer tokens',
  );
});
