import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog, type Log } from '../log.ts';
import { connectRedis, failFast, retryForever } from './redis.ts';
import { redisAt } from './redis-at.fixture.ts';
import { watchQueueRedis } from './watch-queue-redis.ts';

const silent = createLog('test', 'silent');
const hourMs = 3_600_000;
const mayLose = [
  'error',
  'Queue Redis loses jobs and idempotency keys when it is full: set its maxmemory-policy to noeviction',
];
const keepsAll = ['warn', 'Queue Redis keeps all jobs again: its maxmemory-policy is noeviction'];
const tooOld = [
  'error',
  'Queue Redis is too old: uploads and new pictures take two seconds longer. Use Redis 7 or newer, or Valkey',
];
const newEnough = ['warn', 'Queue Redis is no longer too old'];

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
    using place = watchQueueRedis(redisAt(redis.url), log, hourMs);
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

test('a server that becomes a replica is an error until it is a master again', async () => {
  await setPolicy('noeviction');
  const { lines, log } = collectLines();
  using place = watchQueueRedis(redisAt(redis.url), log, 20);
  await using connection = connectRedis(place, retryForever, silent);
  await connection.ping();
  await redis.command('REPLICAOF', '127.0.0.1', '1');
  await waitUntil('an error', async () => lines.length > 0);
  await redis.command('REPLICAOF', 'NO', 'ONE');
  await waitUntil('its end', async () => lines.length > 1);
  expect(lines).toEqual([
    ['error', 'Queue Redis is a replica, which takes no writes: set REDIS_URL to its master'],
    ['warn', 'Queue Redis takes writes again'],
  ]);
});

test('a policy that changes meanwhile is noticed without a reconnect', async () => {
  await setPolicy('noeviction');
  const { lines, log } = collectLines();
  using place = watchQueueRedis(redisAt(redis.url), log, 20);
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

test.each([['SSUBSCRIBE', 'SUNSUBSCRIBE', 'SPUBLISH'], ['SPUBLISH']])(
  'without %s, which came with Redis 7, several connections of a process log one error, and one line after an upgrade',
  async (...commands) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-old-redis-'));
    const include = join(folder.path, 'redis.conf');
    await writeFile(include, commands.map((command) => `rename-command ${command} ""\n`).join(''));
    await using old = await startRedis({ more: { include } });
    const { lines, log } = collectLines();
    using place = watchQueueRedis(redisAt(old.url), log, hourMs);
    await using parts = new AsyncDisposableStack();
    const connections = [failFast, retryForever, failFast].map((options) =>
      parts.use(connectRedis(place, options, silent)),
    );
    await waitUntil('an error', async () => lines.length > 0);
    await waitUntil('connections', async () => connections.every(({ status }) => status === 'ready'));
    await writeFile(include, '');
    await old.restart();
    await waitUntil('its end', async () => lines.length > 1);
    expect(lines).toEqual([tooOld, newEnough]);
  },
);
