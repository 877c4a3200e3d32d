import { settingFaults } from '@echodrop/service/setting-faults.fixture';
import { expect, test } from 'vitest';
import { cacheTimeoutMs, queryWaitMs, readConfig } from './config.ts';

const good = {
  REDIS_URL: 'redis://127.0.0.1',
  VERIFIER_SECRET: 'a secret of this test',
  CACHE_KEY_SECRET: 'a secret of this test',
  USER_ID_SECRET: 'a secret of this test',
  IDENTITY_PROVIDERS: 'https://a.example/verify.json, oauth1 https://b.example/=http://127.0.0.1:8085/',
};

const faultsOf = (env: NodeJS.ProcessEnv) => settingFaults(() => readConfig(env));

test('providers in their order, and the defaults of the design', () => {
  const config = readConfig(good);
  expect(config.IDENTITY_PROVIDERS.map(({ advertised, upstream }) => [advertised, upstream])).toEqual([
    ['https://a.example/verify.json', 'https://a.example/verify.json'],
    ['https://b.example/', 'http://127.0.0.1:8085/'],
  ]);
  expect(config).toMatchObject({ PORT: 8082, OPS_PORT: 9082, VERDICT_TTL_SECONDS: 60, PROVIDER_TIMEOUT_MS: 5000 });
});

test('a hanging cache, to which a verification sends four requests, delays it by at most two seconds, and with a wait and the slowest provider to less than ten', () => {
  const cacheMs = 4 * cacheTimeoutMs;
  expect(cacheMs).toBeLessThanOrEqual(2000);
  for (const PROVIDER_TIMEOUT_MS of ['1', '5000', '7000']) {
    const { PROVIDER_TIMEOUT_MS: queryMs } = readConfig({ ...good, PROVIDER_TIMEOUT_MS });
    expect(queryWaitMs(queryMs)).toBeGreaterThan(0);
    expect(cacheMs + queryWaitMs(queryMs) + queryMs).toBeLessThan(10_000);
  }
});

test('lists all missing settings', () => {
  expect(faultsOf({}).toSorted()).toEqual([
    'CACHE_KEY_SECRET is required',
    'CACHE_REDIS_URL is required if REDIS_URL is not set',
    'IDENTITY_PROVIDERS is required',
    'USER_ID_SECRET is required',
    'VERIFIER_SECRET is required',
  ]);
});

const shape = 'must be [profile ]advertised[=upstream], with http(s) addresses';

test.each([
  [{ IDENTITY_PROVIDERS: ',' }, 'IDENTITY_PROVIDERS must not be empty'],
  [{ IDENTITY_PROVIDERS: 'https://a.example/, a.example' }, `IDENTITY_PROVIDERS entry 2 ${shape}`],
  [
    { IDENTITY_PROVIDERS: 'https://a.example/, https://a.example/=http://b.example/' },
    'IDENTITY_PROVIDERS entry 2 advertises the same address as an earlier entry',
  ],
  [
    { IDENTITY_PROVIDERS: 'openid https://a.example/' },
    'IDENTITY_PROVIDERS entry 1 must begin with an address, or with one of oauth1, mastodon, oidc, wordpress, matrix',
  ],
  [
    { IDENTITY_PROVIDERS: 'https://user:password@a.example/' },
    'IDENTITY_PROVIDERS entry 1 has an address with a user or a fragment',
  ],
  [{ CACHE_KEY_SECRET: 'a secret of this test,short' }, 'CACHE_KEY_SECRET must have at least 16 characters'],
  [{ VERIFIER_SECRET: 'short' }, 'VERIFIER_SECRET must have at least 16 characters'],
  [{ VERDICT_TTL_SECONDS: '3601' }, 'VERDICT_TTL_SECONDS must be a whole number from 0 to 3600'],
  [{ PROVIDER_TIMEOUT_MS: '0' }, 'PROVIDER_TIMEOUT_MS must be a whole number from 1 to 7000'],
  [{ PROVIDER_TIMEOUT_MS: '7001' }, 'PROVIDER_TIMEOUT_MS must be a whole number from 1 to 7000'],
])('%j', (changed, fault) => {
  expect(faultsOf({ ...good, ...changed })).toEqual([fault]);
});
