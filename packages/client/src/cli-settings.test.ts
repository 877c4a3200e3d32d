import { expect, test } from 'vitest';
import { FaultyUsage, readCommand } from './cli-settings.ts';

test('sign alone is for the sandbox of npm start', () => {
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

test('an option stands above its variable', () => {
  const env = {
    ECHODROP_PROVIDER: 'http://variable.example',
    ECHODROP_TOKEN: 'variable',
    ECHODROP_URL: 'http://gateway/',
  };
  const command = readCommand(['upload', 'a.jpg', '--provider', 'https://option.example/v', '--message', 'hello'], env);
  expect(command).toMatchObject({ provider: 'https://option.example/v', credentials: { token: 'variable' } });
  expect(command).toMatchObject({
    file: 'a.jpg',
    message: 'hello',
    service: 'http://gateway',
    format: 'json',
    version: 2,
  });
});

test('nothing and --help ask for help', () => {
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
])('%j is not understood', (args) => {
  expect(() => readCommand(args, {})).toThrow(FaultyUsage);
});
