import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { type RedisPod, startRedisPods } from './queue-redis.fixture.ts';

// An outage of all pods, of which the first to return has missed a failover.
test('a pod that missed a failover and starts first does not replace newer data with its own', async () => {
  await using running = await startRedisPods();
  const { pods } = running;
  const [stale, ...others] = pods;
  await waitUntil('the first master', 20_000, () => isMasterOf(stale, others));
  await stale.handOver();
  await stale.powerOff();
  const master = await agreedMaster(others);
  expect(await master.command('SET', 'job', 'acknowledged')).toBe('OK');
  expect(await master.command('WAIT', '1', '5000')).toBe('1');
  for (const pod of others) await pod.powerOff();

  await stale.powerOn();
  for (const pod of others) await pod.powerOn();
  await expect
    .poll(() => Promise.all(pods.map((pod) => pod.command('GET', 'job').catch(() => 'no Redis'))))
    .toEqual(pods.map(() => 'acknowledged'));
  await expect.poll(() => isMasterOf(master, pods)).toBe(true);
});

/** Whether a Redis is the master with all others as replicas. */
async function isMasterOf(pod: RedisPod, all: readonly RedisPod[]): Promise<boolean> {
  const [role, , ...replicas] = (await pod.command('ROLE')).split('\n');
  const others = all.filter((each) => each !== pod);
  return role === 'master' && others.every(({ address }) => replicas.includes(address));
}

/** The pod that is the master with the others as replicas, when all sentinels know it. */
async function agreedMaster(pods: readonly RedisPod[]): Promise<RedisPod> {
  let master: RedisPod | undefined;
  await waitUntil('a master', 20_000, async () => {
    const known = new Set(await Promise.all(pods.map((pod) => pod.masterOfSentinel())));
    master = pods.find(({ address }) => known.size === 1 && known.has(address));
    return master !== undefined && isMasterOf(master, pods);
  });
  return master ?? expect.fail('no master');
}
