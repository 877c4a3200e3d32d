import { configuredProvider, sandboxSigningProvider } from '@echodrop/client/local-system';
import { expect, test } from 'vitest';
import { environmentOf, localEnvironments } from './default-settings.ts';
import { sampleTarget } from './first-upload.ts';

const dataDir = '/data';

function environments(env: NodeJS.ProcessEnv) {
  const all = localEnvironments(env, dataDir);
  return (service: Parameters<typeof environmentOf>[0]) => all.get(service) ?? {};
}

test('only the service gets its prefixed variables, which override shared ones', () => {
  const env = {
    SITE_PORT: '1',
    PROBE_WORKER_CONCURRENCY: '3',
    LOG_LEVEL: 'warn',
    SITE_LOG_LEVEL: 'debug',
    HOME: '/home/ada',
  };
  expect(environmentOf('site', env)).toEqual({ PORT: '1', LOG_LEVEL: 'debug', HOME: '/home/ada' });
  expect(environmentOf('probe-worker', env)).toEqual({ CONCURRENCY: '3', LOG_LEVEL: 'warn', HOME: '/home/ada' });
  expect(environmentOf('gateway', env)).toEqual({ LOG_LEVEL: 'warn', HOME: '/home/ada' });
});

test("a bare PORT or OPS_PORT is the gateway's", () => {
  const env = { PORT: '1', OPS_PORT: '2', GATEWAY_OPS_PORT: '3' };
  expect(environmentOf('gateway', env)).toEqual({ PORT: '1', OPS_PORT: '3' });
  expect(environmentOf('site', env)).toEqual({});
});

test('an empty variable counts as unset', () => {
  expect(environmentOf('site', { SITE_LOG_LEVEL: '', LOG_LEVEL: 'warn' })).toEqual({ LOG_LEVEL: 'warn' });
  expect(localEnvironments({ IDENTITY_PROVIDERS: '' }, dataDir).has('sandbox-provider')).toBe(true);
});

test('sets defaults for every service', () => {
  const of = environments({});
  expect([...localEnvironments({}, dataDir).keys()]).toEqual([
    'gateway',
    'site',
    'auth-verifier',
    'probe-worker',
    'rendition-worker',
    'sandbox-provider',
  ]);
  expect(of('gateway')).toMatchObject({
    REDIS_URL_FILE: '/data/secrets/REDIS_URL',
    OBJECT_STORE: 'filesystem',
    OBJECT_STORE_DIR: '/data/store',
    SCRATCH_DIR: '/data/scratch',
    PUBLIC_SITE_URL: 'http://127.0.0.1:8081',
    VERIFIER_URL: 'http://127.0.0.1:8082',
    VERIFIER_SECRET_FILE: '/data/secrets/VERIFIER_SECRET',
    API_KEYS: 'sandbox-key',
    CORS_ORIGINS: 'http://127.0.0.1:8081,http://localhost:8081',
  });
  expect(of('site')).toMatchObject({
    WEB_UPLOAD: '1',
    UPLOAD_URL: 'http://127.0.0.1:8080',
    WEB_UPLOAD_API_KEY: 'sandbox-web-key',
  });
  expect(of('auth-verifier')).toMatchObject({
    IDENTITY_PROVIDERS: [
      'http://127.0.0.1:8085/1/account/verify_credentials.json',
      'mastodon http://127.0.0.1:8085/api/v1/accounts/verify_credentials',
      'oidc http://127.0.0.1:8085/userinfo',
      'wordpress http://127.0.0.1:8085/wp-json/wp/v2/users/me',
      'matrix http://127.0.0.1:8085/_matrix/client/v3/account/whoami',
    ].join(),
    CACHE_KEY_SECRET_FILE: '/data/secrets/CACHE_KEY_SECRET',
    USER_ID_SECRET_FILE: '/data/secrets/USER_ID_SECRET',
  });
});

test('derives addresses from ports and hosts', () => {
  const of = environments({
    SITE_PORT: '1',
    AUTH_VERIFIER_PORT: '2',
    SANDBOX_PROVIDER_PORT: '3',
    SITE_HOST: '0.0.0.0',
  });
  expect(of('gateway')).toMatchObject({ PUBLIC_SITE_URL: 'http://127.0.0.1:1', VERIFIER_URL: 'http://127.0.0.1:2' });
  expect(of('site')).toMatchObject({ PUBLIC_SITE_URL: 'http://127.0.0.1:1', PORT: '1', HOST: '0.0.0.0' });
  const providers = of('auth-verifier')['IDENTITY_PROVIDERS']?.split(',');
  expect(providers?.[0]).toBe('http://127.0.0.1:3/1/account/verify_credentials.json');
  expect(providers?.every((provider) => provider.includes('http://127.0.0.1:3/'))).toBe(true);
});

test('the upload page gets the address of the gateway; the gateway gets the origins of the site', () => {
  const of = environments({ BASE_PATHS: '/api', PORT: '1', PUBLIC_SITE_URL: 'https://media.example/' });
  expect(of('site')['UPLOAD_URL']).toBe('http://127.0.0.1:1/api');
  expect(of('gateway')['CORS_ORIGINS']).toBe('https://media.example');
  expect(environments({ CORS_ORIGINS: 'https://own.example' })('gateway')['CORS_ORIGINS']).toBe('https://own.example');
});

test('users sign in at the sandbox, and pages use its API key, unless configured otherwise', () => {
  const signIn = (env: NodeJS.ProcessEnv) => {
    const { WEB_SIGN_IN = '[]', WEB_UPLOAD_API_KEY: apiKey } = environments(env)('site');
    return { names: JSON.parse(WEB_SIGN_IN).map(({ provider }: { provider: string }) => provider), apiKey };
  };
  expect(signIn({ SANDBOX_PROVIDER_PORT: '3' })).toEqual({
    names: ['http://127.0.0.1:3/api/v1/accounts/verify_credentials', 'http://127.0.0.1:3/userinfo'],
    apiKey: 'sandbox-web-key',
  });
  expect(signIn({ IDENTITY_PROVIDERS: 'https://id.example', API_KEYS: 'a real one' })).toEqual({
    names: [],
    apiKey: undefined,
  });
});

test('the sample belongs to the user of the first sign-in button; `npm run sign` signs for the first provider', () => {
  const env = { SANDBOX_PROVIDER_PORT: '3' };
  const of = environments(env);
  const [button] = JSON.parse(of('site')['WEB_SIGN_IN'] ?? '[]');
  expect(sampleTarget(env)?.provider).toBe(button.provider);
  const providers = of('auth-verifier')['IDENTITY_PROVIDERS'];
  expect(configuredProvider({ IDENTITY_PROVIDERS: providers })).toBe(sandboxSigningProvider(env));
});

test('keeps configured values and files, for all services or one', () => {
  const of = environments({
    PUBLIC_SITE_URL: 'https://media.example',
    VERIFIER_SECRET: 'a secret for all',
    AUTH_VERIFIER_USER_ID_SECRET_FILE: '/run/secrets/user-id',
    GATEWAY_API_KEYS_FILE: '/run/secrets/keys',
    OBJECT_STORE: 's3',
  });
  expect(of('gateway')).toMatchObject({ PUBLIC_SITE_URL: 'https://media.example', OBJECT_STORE: 's3' });
  expect(of('gateway')).not.toHaveProperty('VERIFIER_SECRET_FILE');
  expect(of('gateway')).not.toHaveProperty('API_KEYS');
  expect(of('auth-verifier')).toMatchObject({
    USER_ID_SECRET_FILE: '/run/secrets/user-id',
    VERIFIER_SECRET: 'a secret for all',
  });
});

test('uses no local Redis for a service with a configured one, or one for each role', () => {
  expect(environments({ REDIS_URL: 'redis://other' })('gateway')['REDIS_URL']).toBe('redis://other');
  const roles = environments({ QUEUE_REDIS_URL: 'redis://q', CACHE_REDIS_URL: 'redis://c' });
  expect(roles('gateway')).not.toHaveProperty('REDIS_URL_FILE');
  expect(environments({ QUEUE_REDIS_URL: 'redis://q' })('auth-verifier')['REDIS_URL_FILE']).toBe(
    '/data/secrets/REDIS_URL',
  );
});

test('the sandbox provider runs only if no other provider is configured', () => {
  expect(localEnvironments({ IDENTITY_PROVIDERS: 'https://id.example' }, dataDir).has('sandbox-provider')).toBe(false);
  expect(
    localEnvironments({ AUTH_VERIFIER_IDENTITY_PROVIDERS: 'https://id.example' }, dataDir).has('sandbox-provider'),
  ).toBe(false);
});

test('an invalid port does not lead to invalid addresses', () => {
  expect(environments({ SITE_PORT: 'none' })('gateway')['PUBLIC_SITE_URL']).toBe('http://127.0.0.1:8081');
  expect(environments({ SANDBOX_PROVIDER_PORT: 'none' })('auth-verifier')['IDENTITY_PROVIDERS']).toMatch(
    /^http:\/\/127\.0\.0\.1:8085\//,
  );
});
