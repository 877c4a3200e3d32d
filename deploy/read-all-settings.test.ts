import { localPorts } from '@echodrop/client/local-system';
import { FaultySettings } from '@echodrop/service/env';
import { expect, test } from 'vitest';
import { localEnvironments } from './local-environment.ts';
import { portsOf, readAllSettings } from './read-all-settings.ts';

const secrets = {
  VERIFIER_SECRET: 'a verifier secret of the tests',
  CACHE_KEY_SECRET: 'a cache key secret of the tests',
  USER_ID_SECRET: 'a user id secret of the tests',
};

function readAll(env: NodeJS.ProcessEnv) {
  return readAllSettings(
    localEnvironments({ ...secrets, ...env }, { dataDir: '/data', redisUrl: 'redis://127.0.0.1:7000' }),
  );
}

function faults(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readAll(env);
    return [];
  } catch (error) {
    if (error instanceof FaultySettings) return error.faults;
    throw error;
  }
}

test('with nothing set, every service listens where DESIGN says', () => {
  const ports = portsOf(readAll({}));
  const called = (name: string) =>
    Object.fromEntries(ports.filter((port) => port.name === name).map((port) => [port.service, port.port]));
  expect(called('PORT')).toEqual(localPorts);
  expect(called('OPS_PORT')).toEqual({
    gateway: 9080,
    site: 9081,
    'auth-verifier': 9082,
    'probe-worker': 9083,
    'rendition-worker': 9084,
    'sandbox-provider': 9085,
  });
});

test('all faults of all services are told at once; what several have in common, once', () => {
  const told = faults({
    LOG_LEVEL: 'loud',
    SITE_PORT: 'none',
    PROBE_WORKER_CONCURRENCY: '0',
    VERIFIER_SECRET: 'short',
  });
  expect(told).toHaveLength(4);
  expect(told).toContainEqual(
    expect.stringMatching(
      /^gateway, site, auth-verifier, probe-worker, rendition-worker, sandbox-provider: LOG_LEVEL must be one of/,
    ),
  );
  expect(told).toContainEqual(expect.stringMatching(/^site: PORT must be/));
  expect(told).toContainEqual(expect.stringMatching(/^probe-worker: CONCURRENCY must be/));
  expect(told).toContainEqual(expect.stringMatching(/^gateway, auth-verifier: VERIFIER_SECRET must have/));
});

test('a port that two ask for, and one that is left to the system, are faults', () => {
  expect(faults({ SITE_PORT: '8080' })).toEqual(['gateway, site: port 8080 is asked for more than once']);
  expect(faults({ SITE_OPS_PORT: '0' })).toEqual(['site: OPS_PORT must not be 0']);
});
