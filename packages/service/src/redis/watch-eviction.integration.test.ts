import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog, type Log } from '../log.ts';
import { connectRedis, failFast, retryForever } from './redis.ts';
import { redisAt } from './redis-at.fixture.ts';
import { watchEviction } from './watch-eviction.ts';

const silent = createLog('test', 'silent');
const hourMs = 3_600_000;
const mayLose = [
  'error',
  'Queue Redis loses jobs and idempotency keys when it is full: set its maxmemory-policy to noeviction',
];
const keepsAll = ['warn', 'Queue Redis keeps all jobs again: its maxmemory-policy is noeviction'];

let redis: RunningRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());

const setPolicy = (policy: string) => redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);

function collectLines() {
  const lines: unknown[] = [];
  const add =
    (level: string) =>
    (...line: unknown[]) =>
      lines.push([level, line.at(-1)]);
  return { lines, log: { warn: add('warn'), error: add('error') } as unknown as Log };
}

/** The number of times that a connection has read the policy. */
async function looks(): Promise<number> {
  return Number(/^cmdstat_info:calls=(\d+)/m.exec(await redis.command('INFO', 'commandstats'))?.[1]);
}

test.each(['allkeys-lru', 'volatile-lru', 'allkeys-random', 'volatile-ttl'])(
  'with %s, several connections of a process log one error, and one line when that is over',
  async (policy) => {
    await setPolicy(policy);
    const { lines, log } = collectLines();
    using place = watchEviction(redisAt(redis.url), log, hourMs);
    await using parts = new AsyncDisposableStack();
    const connections = [failFast, retryForever, failFast].map((options) =>
      parts.use(connectRedis(place, options, silent)),
    );
    await waitUntil('an error', async () => lines.length > 0);
    await waitUntil('connections', async () => connections.every(({ status }) => status === 'ready'));
    await setPolicy('noeviction');
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await waitUntil('its end', async () => lines.length > 1);
    expect(lines).toEqual([mayLose, keepsAll]);
  },
);

test('a policy that changes meanwhile is noticed without a reconnect', async () => {
  await setPolicy('noeviction');
  const { lines, log } = collectLines();
  using place = watchEviction(redisAt(redis.url), log, 20);
  await using connection = connectRedis(place, retryForever, silent);
  await connection.ping();
  const before = await looks();
  await waitUntil('several looks', async () => (await looks()) > before + 5);
  expect(lines).toEqual([]);
  await setPolicy('allkeys-lfu');
  await waitUntil('an error', async () => lines.length > 0);
  await setPolicy('noeviction');
  await waitUntil('its end', async () => lines.length > 1);
  expect(lines).toEqual([mayLose, keepsAll]);
});
