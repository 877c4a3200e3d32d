import { localEnvironments } from '@echodrop/local/default-settings';
import { settingFaults } from '@echodrop/service/setting-faults.fixture';
import { expect, test } from 'vitest';
import { readContainerSettings } from './container-settings.ts';

const provider = 'mastodon https://social.example/api/v1/accounts/verify_credentials';
const real = { PUBLIC_SITE_URL: 'https://media.example', IDENTITY_PROVIDERS: provider };

const faultsOf = (given: NodeJS.ProcessEnv) => settingFaults(() => readContainerSettings(given, '/data'));

function servicesOf(given: NodeJS.ProcessEnv) {
  const { env, origin } = readContainerSettings(given, '/data');
  const all = localEnvironments(env, '/data', origin);
  return (service: 'gateway' | 'site' | 'auth-verifier') => all.get(service) ?? {};
}

test.each([
  {},
  { IDENTITY_PROVIDERS: provider },
  { PUBLIC_SITE_URL: 'https://media.example' },
  { IDENTITY_PROVIDERS: '' },
])('says what to set without providers and an address: %j', (given) => {
  expect(faultsOf(given).join('\n')).toMatch(/^(Set (PUBLIC_SITE_URL|IDENTITY_PROVIDERS) to .*\n)+.*SANDBOX=1/);
});

test('a trial is for loopback only, and has no other provider', () => {
  expect(faultsOf({ SANDBOX: '1' })).toEqual([]);
  for (const origin of ['http://127.0.0.1:9000', 'http://localhost:9000'])
    expect(faultsOf({ SANDBOX: '1', PUBLIC_SITE_URL: origin })).toEqual([]);
  for (const origin of ['https://media.example', 'http://192.168.1.2:8080', 'http://127.0.0.1.example:8080'])
    expect(faultsOf({ SANDBOX: '1', PUBLIC_SITE_URL: origin })).toEqual([
      expect.stringMatching(/^SANDBOX=1 .*PUBLIC_SITE_URL/),
    ]);
  expect(faultsOf({ SANDBOX: '1', IDENTITY_PROVIDERS: provider })).toEqual([
    expect.stringContaining('unset IDENTITY_PROVIDERS'),
  ]);
  expect(faultsOf({ SANDBOX: '1', BASE_PATHS: '/api' })).toEqual([expect.stringContaining('unset BASE_PATHS')]);
  expect(faultsOf({ SANDBOX: 'yes' })).toEqual([expect.stringMatching(/^SANDBOX must be/)]);
});

test.each(['/upload', '/mine/api', '/sign-in', '/by'])('uploads below %s would hide pages', (path) => {
  expect(faultsOf({ ...real, BASE_PATHS: `/,${path}` })).toEqual([expect.stringContaining(`BASE_PATHS has ${path}`)]);
  expect(faultsOf({ ...real, BASE_PATHS: `/s${path}` })).toEqual([]);
});

test('every address follows from the public one', () => {
  const of = servicesOf({ ...real, PORT: '3000' });
  const gateway = { PUBLIC_SITE_URL: 'https://media.example', PUBLIC_UPLOAD_URL: 'https://media.example' };
  expect(of('gateway')).toMatchObject({ ...gateway, CORS_ORIGINS: 'https://media.example', PORT: '8083' });
  expect(of('site')).toMatchObject({ PUBLIC_SITE_URL: 'https://media.example', UPLOAD_URL: 'https://media.example' });
  expect(of('auth-verifier')['IDENTITY_PROVIDERS']).toBe(provider);
  expect(servicesOf({ ...real, BASE_PATHS: '/api/,/' })('site')['UPLOAD_URL']).toBe('https://media.example/api');
  expect(readContainerSettings({ ...real, BASE_PATHS: '/api/,/' }, '/data').roots).toEqual(['/api', '']);
});

test('another address for uploads is kept', () => {
  const of = servicesOf({ ...real, UPLOAD_URL: 'https://upload.example' });
  expect(of('gateway')['PUBLIC_UPLOAD_URL']).toBe('https://upload.example');
  expect(of('site')['UPLOAD_URL']).toBe('https://upload.example');
});

test('no credentials that everyone knows, unless it is a trial', () => {
  const of = servicesOf(real);
  expect(of('gateway')).toMatchObject({ API_KEYS_FILE: '/data/secrets/API_KEYS', WEB_UPLOAD_API_KEY: 'web-upload' });
  expect(JSON.stringify(of('site'))).not.toContain('sandbox');
  expect(of('gateway')['API_KEYS']).toBeUndefined();
  const own = servicesOf({ ...real, API_KEYS: 'a=secret' });
  expect(own('gateway')).toMatchObject({ API_KEYS: 'a=secret' });
  expect(own('gateway')['WEB_UPLOAD_API_KEY']).toBeUndefined();
  expect(servicesOf({ SANDBOX: '1' })('gateway')['API_KEYS']).toBe('sandbox-key');
});

test('clients find the sandbox of a trial at its one origin, and the auth-verifier inside', () => {
  const of = servicesOf({ SANDBOX: '1', PUBLIC_SITE_URL: 'http://127.0.0.1:9000' });
  expect(of('auth-verifier')['IDENTITY_PROVIDERS']?.split(',')[1]).toBe(
    'mastodon http://127.0.0.1:9000/api/v1/accounts/verify_credentials=http://127.0.0.1:8085/api/v1/accounts/verify_credentials',
  );
  expect(of('site')['WEB_SIGN_IN']).toContain('http://127.0.0.1:9000/');
  expect(of('site')['WEB_SIGN_IN']).not.toContain('8085');
});

test('services trust the proxy of the container only, which trusts those that the operator names', () => {
  const given = { ...real, TRUSTED_PROXIES: '172.16.0.0/12, 192.168.0.0/16' };
  expect(readContainerSettings(given, '/data').trustedProxies).toEqual(['172.16.0.0/12', '192.168.0.0/16']);
  for (const service of ['gateway', 'site'] as const)
    expect(servicesOf(given)(service)['TRUSTED_PROXIES']).toBe('127.0.0.1');
  expect(faultsOf({ ...real, TRUSTED_PROXIES: 'all; return 200' })).toEqual([
    expect.stringMatching(/^TRUSTED_PROXIES must be/),
  ]);
});
