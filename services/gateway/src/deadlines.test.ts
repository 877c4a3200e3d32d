import { defaultDeadlines } from '@echodrop/object-store/s3/deadlines';
import { failFast } from '@echodrop/service/redis/redis';
import { expect, test } from 'vitest';
import { limitsTimeoutMs, verificationDeadlineMs } from './deadlines.ts';

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
