import { settingFaults } from '@echodrop/service/setting-faults.fixture';
import { expect, test } from 'vitest';
import { localEnvironments } from './default-settings.ts';
import { readAllSettings } from './read-all-settings.ts';

const secrets = {
  REDIS_URL: 'redis://127.0.0.1:7000',
  VERIFIER_SECRET: 'a verifier secret of the tests',
  CACHE_KEY_SECRET: 'a cache key secret of the tests',
  PROBE_QUEUE_SECRET: 'a probe queue secret of the tests',
  RENDITION_QUEUE_SECRET: 'a rendition queue secret of the tests',
  USER_ID_SECRET: 'a user id secret of the tests',
};

function readAll(env: NodeJS.ProcessEnv) {
  return readAllSettings(localEnvironments({ ...secrets, ...env }, '/data'), env);
}

const faults = (env: NodeJS.ProcessEnv) => settingFaults(() => readAll(env));

test('reports all faults of all services at once, common ones once', () => {
  const reported = faults({
    LOG_LEVEL: 'loud',
    SITE_PORT: 'none',
    PROBE_WORKER_CONCURRENCY: '0',
    VERIFIER_SECRET: 'short',
  });
  expect(reported).toHaveLength(4);
  expect(reported).toContainEqual(
    expect.stringMatching(
      /^gateway, site, auth-verifier, probe-worker, rendition-worker, sandbox-provider: LOG_LEVEL must be one of/,
    ),
  );
  expect(reported).toContainEqual(expect.stringMatching(/^SITE_PORT must be/));
  expect(reported).toContainEqual(expect.stringMatching(/^PROBE_WORKER_CONCURRENCY must be/));
  expect(reported).toContainEqual(expect.stringMatching(/^gateway, auth-verifier: VERIFIER_SECRET must have/));
});

test('reports ports that are used twice or 0', () => {
  expect(faults({ SITE_PORT: '8080' })).toEqual([
    'GATEWAY_PORT is 8080, which is used more than once',
    'SITE_PORT is 8080, which is used more than once',
  ]);
  expect(faults({ SITE_OPS_PORT: '0' })).toEqual(['SITE_OPS_PORT must not be 0']);
});

test('reports faults under the names in the environment', () => {
  expect(faults({ SITE_PORT: '99999' })).toEqual(['SITE_PORT must be a whole number from 0 to 65535']);
  expect(faults({ PORT: '99999' })).toEqual(['gateway: PORT must be a whole number from 0 to 65535']);
  expect(faults({ GATEWAY_API_KEYS_FILE: '/no/such/file' })).toEqual(['GATEWAY_API_KEYS_FILE cannot be read (ENOENT)']);
  const [bucket] = faults({ SITE_OBJECT_STORE: 's3' }).filter((fault) => fault.includes('S3_BUCKET'));
  expect(bucket).toBe('S3_BUCKET is required if SITE_OBJECT_STORE is s3');
  expect(faults({ REDIS_URL: 'http://hunter2' })).toEqual([
    'gateway, site, auth-verifier, probe-worker, rendition-worker: REDIS_URL must be a redis:// or rediss:// address, alone or with +sentinel or +cluster before the colon',
  ]);
});

test('reports a sign-in at a provider that is not configured', () => {
  const town = 'https://town.example/api/v1/accounts/verify_credentials';
  const signIn = { WEB_SIGN_IN: JSON.stringify([{ name: 'Town', profile: 'mastodon', provider: town }]) };
  const named = `site: WEB_SIGN_IN names ${town} with the profile mastodon, which`;
  expect(faults(signIn)).toEqual([`${named} IDENTITY_PROVIDERS lacks`]);
  expect(faults({ ...signIn, IDENTITY_PROVIDERS: town })).toEqual([expect.stringContaining('another profile')]);
  expect(faults({ ...signIn, IDENTITY_PROVIDERS: `mastodon ${town}` })).toEqual([]);
});
