import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const env = {
  REDIS_URL: 'redis://127.0.0.1',
  OBJECT_STORE: 'filesystem',
  OBJECT_STORE_DIR: '/tmp/store',
  RENDITION_QUEUE_SECRET: 'a secret of this test',
};

test.each(['https://example.org/report?a=b', 'mailto:abuse@example.org'])('accepts the contact %s', (contact) => {
  for (const name of ['ABUSE_CONTACT', 'SECURITY_CONTACT'] as const)
    expect(readConfig({ ...env, [name]: contact })[name]).toBe(contact);
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
  for (const name of ['ABUSE_CONTACT', 'SECURITY_CONTACT'])
    expect(() => readConfig({ ...env, [name]: contact })).toThrow(`${name} must be an https: or mailto: address`);
});

test('the upload page requires the address of the gateway', () => {
  expect(readConfig(env)).toMatchObject({ WEB_UPLOAD: '0' });
  expect(() => readConfig({ ...env, WEB_UPLOAD: '1' })).toThrow('UPLOAD_URL is required if WEB_UPLOAD is 1');
  expect(readConfig({ ...env, WEB_UPLOAD: '1', UPLOAD_URL: 'https://api.example/up/' }).UPLOAD_URL).toBe(
    'https://api.example/up',
  );
  expect(() => readConfig({ ...env, WEB_UPLOAD: '1', UPLOAD_URL: 'https://api.example/files/' })).toThrow(
    'UPLOAD_URL must not end in /files',
  );
});

const town = { name: 'Town', profile: 'mastodon', provider: 'https://town.example/api/v1/accounts/verify_credentials' };
const hall = {
  name: 'Town hall',
  profile: 'oidc',
  provider: 'https://id.example/userinfo',
  issuer: 'https://id.example/realms/town',
  clientId: 'echodrop',
};
const signIn = (...entries: unknown[]) => readConfig({ ...env, WEB_SIGN_IN: JSON.stringify(entries) }).WEB_SIGN_IN;

test('reads sign-in providers, with addresses exactly as they are', () => {
  expect(readConfig(env).WEB_SIGN_IN).toEqual([]);
  expect(signIn(town, { ...hall, scope: 'openid profile', origins: ['https://Token.example/'] })).toEqual([
    { ...town, origins: [] },
    { ...hall, scope: 'openid profile', origins: ['https://token.example'] },
  ]);
});

test.each<[string, readonly unknown[]]>([
  ['[0].provider must be an http(s) address', [{ ...town, provider: 'town.example' }]],
  ['[1].provider must be an http(s) address', [town, { ...hall, provider: 'https://a:b@id.example/' }]],
  ['[0].provider is required', [{ ...town, provider: undefined }]],
  ['[0].name must be 1 to 60 characters, without spaces around them', [{ ...town, name: '' }]],
  ['[0].profile must be mastodon or oidc', [{ ...town, profile: 'matrix' }]],
  ['[0].issuer is required', [{ ...hall, issuer: undefined }]],
  ['[0].clientId is required', [{ ...hall, clientId: undefined }]],
  ['[0] has an unknown field', [{ ...town, clientSecret: 'hunter2' }]],
  [
    '[0].origins[0] must be an http(s) address with a host alone, such as https://media.example',
    [{ ...town, origins: ['https://a.example/b'] }],
  ],
  ['[0].scope may contain only profile, read:accounts', [{ ...town, scope: ' ' }]],
  ['[0].scope may contain only profile, read:accounts', [{ ...town, scope: 'read' }]],
  ['[1].scope may contain only profile, read:accounts', [hall, { ...town, scope: 'read:accounts write' }]],
  ['[0].scope may contain only openid, profile, offline_access', [{ ...hall, scope: 'openid cluster:admin' }]],
  ['[0].scope must contain openid', [{ ...hall, scope: 'profile' }]],
  ['[1].provider is a duplicate', [town, town]],
])('rejects sign-in providers: %s', (fault, entries) => {
  expect(() => signIn(...entries)).toThrow(`WEB_SIGN_IN is invalid: ${fault}`);
});

test('reports every fault of every sign-in provider, without values', () => {
  const faulty = () => signIn({ ...town, provider: 'hunter2' }, { ...hall, issuer: 'hunter2', hunter2: 1 });
  expect(faulty).toThrow(
    [
      'WEB_SIGN_IN is invalid: [0].provider must be an http(s) address',
      'WEB_SIGN_IN is invalid: [1].issuer must be an http(s) address',
      'WEB_SIGN_IN is invalid: [1] has an unknown field',
    ].join('\n'),
  );
});

test.each(['{', '{}', '"a"', 'null'])('rejects sign-in providers that are not a JSON array: %s', (json) => {
  expect(() => readConfig({ ...env, WEB_SIGN_IN: json })).toThrow('WEB_SIGN_IN is');
});

test('rejects an API key of the pages that a form could change', () => {
  expect(readConfig({ ...env, WEB_UPLOAD_API_KEY: 'web-upload' }).WEB_UPLOAD_API_KEY).toBe('web-upload');
  expect(() => readConfig({ ...env, WEB_UPLOAD_API_KEY: 'a key' })).toThrow('WEB_UPLOAD_API_KEY must be letters');
});
