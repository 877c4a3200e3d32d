import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RedisPod, startRedisPods } from './queue-redis.fixture.ts';

test('address-of names a Service that it cannot resolve', async () => {
  const addressOf = join(import.meta.dirname, 'queue-redis/address-of');
  const { exitCode, stderr } = await execa(addressOf, ['0.invalid'], { reject: false });
  expect([exitCode, stderr]).toEqual([1, 'Cannot resolve queue-0.invalid']);
});

describe('after a power loss of all pods, one of which has outdated data', () => {
  let running: AsyncDisposable | undefined;
  let pods: readonly RedisPod[];
  let stale: RedisPod;
  let master: RedisPod;
  let replica: RedisPod;

  beforeEach(async () => {
    const set = await startRedisPods();
    running = set;
    const [first, ...others] = set.pods;
    [stale, pods] = [first, [first, ...others]];
    await waitUntil('the first master', () => isMasterOf(stale, pods));
    await stale.handOver();
    await stale.powerOff();
    master = await agreedMaster(others);
    replica = others.find((pod) => pod !== master) ?? expect.fail('no replica');
    expect(await master.command('SET', 'job', 'acknowledged')).toBe('OK');
    expect(await master.command('WAIT', '1', `${patienceMs}`)).toBe('1');
    // The replica acknowledges before it has written, if a disk is slow: a power loss may cost two seconds.
    for (const pod of others) await waitUntil('the data on disk', () => isWritten(pod));
    for (const pod of others) await pod.powerOff();
  });
  afterEach(() => running?.[Symbol.asyncDispose]());

  test('the outdated pod starts first, and keeps the newer data of the others', async () => {
    for (const pod of [stale, master, replica]) await pod.powerOn();
    await expect.poll(() => jobs(pods)).toEqual(pods.map(() => 'acknowledged'));
    await expect.poll(() => isMasterOf(master, pods)).toBe(true);
  });

  test('the last master does not return, and its replica becomes the master', async () => {
    const started = [stale, replica];
    for (const pod of started) await pod.powerOn();
    await expect.poll(() => isMasterOf(replica, started)).toBe(true);
    await expect.poll(() => jobs(started)).toEqual(['acknowledged', 'acknowledged']);
  });
});

async function isWritten(pod: RedisPod): Promise<boolean> {
  const info = await pod.command('INFO', 'persistence');
  // After a full synchronization, the file on disk is the old one until the rewrite has ended.
  const fields = ['aof_buffer_length', 'aof_pending_bio_fsync', 'aof_rewrite_in_progress', 'aof_rewrite_scheduled'];
  return fields.every((field) => new RegExp(`^${field}:0\\r?$`, 'm').test(info));
}

function jobs(of: readonly RedisPod[]): Promise<string[]> {
  return Promise.all(of.map((pod) => pod.command('GET', 'job').catch(() => 'no Redis')));
}

/** Whether a Redis is the master with all others as replicas. */
async function isMasterOf(pod: RedisPod, all: readonly RedisPod[]): Promise<boolean> {
  const [role, , ...replicas] = (await pod.command('ROLE')).split('\n');
  const others = all.filter((each) => each !== pod);
  return role === 'master' && others.every(({ address }) => replicas.includes(address));
}

/** The pod that is the master with the others as replicas, when all sentinels know it. */
async function agreedMaster(all: readonly RedisPod[]): Promise<RedisPod> {
  let agreed: RedisPod | undefined;
  await waitUntil('a master', async () => {
    const known = new Set(await Promise.all(all.map((pod) => pod.masterOfSentinel())));
    agreed = all.find(({ address }) => known.size === 1 && known.has(address));
    return agreed !== undefined && isMasterOf(agreed, all);
  });
  return agreed ?? expect.fail('no master');
}
