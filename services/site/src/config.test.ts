import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const env = {
  REDIS_URL: 'redis://127.0.0.1',
  OBJECT_STORE: 'filesystem',
  OBJECT_STORE_DIR: '/tmp/store',
  RENDITION_QUEUE_SECRET: 'a secret of this test',
};

test.each(['https://example.org/report?a=b', 'mailto:abuse@example.org'])('accepts the contact %s', (contact) => {
  expect(readConfig({ ...env, ABUSE_CONTACT: contact }).ABUSE_CONTACT).toBe(contact);
});

test.each([
  'abuse@example.org',
  'http://example.org',
  'javascript:alert(1)',
  'https://',
  'https:example.org',
  'mailto:',
  'https://example.org/ x',
])('rejects the contact %s', (contact) => {
  expect(() => readConfig({ ...env, ABUSE_CONTACT: contact })).toThrow(
    'ABUSE_CONTACT must be an https: or mailto: address',
  );
});

test.each(['https://example.org/photos', 'https://example.org/?a', 'https://example.org/#a', 'https://u@example.org'])(
  'rejects the site address %s, which is not an origin',
  (address) => {
    expect(() => readConfig({ ...env, PUBLIC_SITE_URL: address })).toThrow(
      'PUBLIC_SITE_URL must be an http(s) address without a path',
    );
  },
);

test('the upload page requires the address of the gateway', () => {
  expect(readConfig(env)).toMatchObject({ WEB_UPLOAD: '0', WEB_UPLOAD_FILL: {} });
  expect(() => readConfig({ ...env, WEB_UPLOAD: '1' })).toThrow('UPLOAD_URL is required if WEB_UPLOAD is 1');
  expect(readConfig({ ...env, WEB_UPLOAD: '1', UPLOAD_URL: 'https://api.example/up/' }).UPLOAD_URL).toBe(
    'https://api.example/up',
  );
});

test.each(['{', '[]', '"provider"', 'null', '{"provider":1}', '{"password":"x"}'])(
  'rejects the initial values %s',
  (fill) => {
    expect(() => readConfig({ ...env, WEB_UPLOAD_FILL: fill })).toThrow(
      'WEB_UPLOAD_FILL must be a JSON object of strings: provider, apiKey, consumerKey, consumerSecret, token, tokenSecret, bearer',
    );
  },
);
