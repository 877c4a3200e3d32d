import { defaultDeadlines } from '@echodrop/object-store/s3/deadlines';
import { InvalidSettings } from '@echodrop/service/env';
import { failFast } from '@echodrop/service/redis/redis';
import { expect, test } from 'vitest';
import { limitsTimeoutMs, readConfig, verificationDeadlineMs } from './config.ts';

const good = {
  REDIS_URL: 'redis://127.0.0.1',
  OBJECT_STORE: 'filesystem',
  OBJECT_STORE_DIR: '/tmp',
  VERIFIER_SECRET: 'a secret of this test, another secret of this test',
  PROBE_QUEUE_SECRET: 'a third secret of this test',
  RENDITION_QUEUE_SECRET: 'a fourth secret of this test',
  API_KEYS: 'key',
};

test.each(['/files', '/photos, /api/files/'])(
  '%s is rejected as base paths, because clients strip it',
  (BASE_PATHS) => {
    expect(() => readConfig({ ...good, BASE_PATHS })).toThrow('BASE_PATHS must not end in /files');
    expect(readConfig({ ...good, BASE_PATHS: '/,/files2,/2' }).BASE_PATHS).toEqual(['/', '/files2', '/2']);
  },
);

test('the public address of uploads must not end in /files, either', () => {
  const read = (PUBLIC_UPLOAD_URL: string) => readConfig({ ...good, PUBLIC_UPLOAD_URL }).PUBLIC_UPLOAD_URL;
  expect(read('https://api.example/files2/')).toBe('https://api.example/files2');
  expect(() => read('https://api.example/files/')).toThrow('PUBLIC_UPLOAD_URL must not end in /files');
});

test('no proxy is trusted by default', () => {
  expect(readConfig(good).TRUSTED_PROXIES).toEqual([]);
});

test.each(['10.0.0.0/8', '192.0.2.1, ::1', '2001:db8::/32', '0.0.0.0/1'])(
  '%s is accepted as a trusted proxy',
  (TRUSTED_PROXIES) => {
    expect(readConfig({ ...good, TRUSTED_PROXIES }).TRUSTED_PROXIES).toEqual(TRUSTED_PROXIES.split(', '));
  },
);

test.each(['nginx', '0.0.0.0/0', '::/0', '10.0.0.0/33', '::1/129', '10.0.0', '192.0.2.1/', '192.0.2.1,proxy', 'true'])(
  '%s is rejected as a trusted proxy',
  (TRUSTED_PROXIES) => {
    const read = () => readConfig({ ...good, TRUSTED_PROXIES });
    expect(read).toThrow(InvalidSettings);
    expect(read).toThrow('TRUSTED_PROXIES must be addresses or networks (10.0.0.0/8)');
  },
);

test.each(['/a b', '/:id', '/(a', '/a"', '/ä', 'api', '//api', '/a//b', '/..', '/a/./b', ','])(
  'BASE_PATHS=%s is refused',
  (BASE_PATHS) => {
    expect(() => readConfig({ ...good, BASE_PATHS })).toThrow('BASE_PATHS must be paths such as /api');
  },
);

// test/component-failures.test.ts shows that these deadlines end the wait for a component that is down or hangs.
const { commandTimeout = Number.POSITIVE_INFINITY } = failFast;
// Its four commands to a hanging cache (services/auth-verifier/src/config.test.ts).
const verifierMs = 2000;
// The user's rate and the key's; the backlog of the probes, and the job.
const rateCommands = 2;
const queueCommands = 2;

test.each([
  ['Redis', 8000, verifierMs + rateCommands * limitsTimeoutMs + queueCommands * commandTimeout],
  ['the auth-verifier', 13_000, verificationDeadlineMs + rateCommands * limitsTimeoutMs],
  // Writing the media, and removing it.
  ['MinIO', 30_000, defaultDeadlines.writeMs + defaultDeadlines.callMs],
])('while %s hangs, an upload gets its response within %i ms', (_, promisedMs, longestMs) => {
  expect(longestMs).toBeLessThan(promisedMs);
});
