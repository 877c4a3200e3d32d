import { RedisNames } from '@echodrop/service/redis/redis-names';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WriterLeases } from './writer-leases.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// Replies of the scripts.
const acquired = 1;
const renewed = 1;
const renewedWhileAnotherWaits = 2;

test.each([
  ['keeps its lease while its client sends and another writer waits', false, renewedWhileAnotherWaits, false],
  ['gives its lease up if its client is silent and another writer waits', true, renewedWhileAnotherWaits, true],
  ['keeps its lease if its client is silent', true, renewed, false],
])('a writer %s', async (_, isIdle, renewal, isAborted) => {
  const run = vi.fn().mockResolvedValue(renewal).mockResolvedValueOnce(acquired);
  const leases = new WriterLeases({ eval: run, names: new RedisNames('echodrop') } as never, 0);
  await using lease = await leases.acquire('id', 'owner', new AbortController().signal);
  lease.isIdle = () => isIdle;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lease.signal.aborted).toBe(isAborted);
});
