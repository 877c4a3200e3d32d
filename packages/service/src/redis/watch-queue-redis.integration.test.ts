import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { createLog, type Log } from '../log.ts';
import { connectRedis, failFast, retryForever } from './redis.ts';
import { redisAt } from './redis-at.fixture.ts';
import { watchQueueRedis } from './watch-queue-redis.ts';

const silent = createLog('test', 'silent');
const hourMs = 3_600_000;

function collectLines() {
  const lines: unknown[] = [];
  const add = (level: string) => (fields: { check: string; reason?: string }) =>
    lines.push([level, fields.check, fields.reason]);
  return { lines, log: { warn: add('warn'), error: add('error') } as unknown as Log };
}

const setPolicy = (redis: RunningRedis, policy: string) => redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);

/** A Redis without some commands, until `restore`. */
async function startWithout(...commands: readonly string[]) {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-old-redis-')));
  const include = join(folder.path, 'redis.conf');
  await writeFile(include, commands.map((command) => `rename-command ${command} ""\n`).join(''));
  const redis = parts.use(await startRedis({ more: { include } }));
  const held = parts.move();
  const restore = async () => {
    await writeFile(include, '');
    await redis.restart();
  };
  return { redis, restore, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

async function startWithPolicy(policy: string) {
  const redis = await startRedis({ more: { 'maxmemory-policy': policy } });
  const restore = async () => {
    await setPolicy(redis, 'noeviction');
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
  };
  return { redis, restore, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
}

test.each([
  ...['allkeys-lru', 'volatile-lru', 'allkeys-random', 'volatile-ttl'].map(
    (policy) => [`the policy ${policy}`, 'eviction', policy, () => startWithPolicy(policy)] as const,
  ),
  ...[['SSUBSCRIBE', 'SUNSUBSCRIBE', 'SPUBLISH'], ['SPUBLISH']].map(
    (commands) => [`no ${commands}`, 'version', 'Redis 7 or newer', () => startWithout(...commands)] as const,
  ),
])('with %s, several connections of a process log one error, and one line when that is over', async (...how) => {
  const [, check, word, start] = how;
  await using started = await start();
  const { lines, log } = collectLines();
  using place = watchQueueRedis(redisAt(started.redis.url), log, hourMs);
  await using parts = new AsyncDisposableStack();
  const connections = [failFast, retryForever, failFast].map((options) =>
    parts.use(connectRedis(place, options, silent)),
  );
  await waitUntil('an error', async () => lines.length > 0);
  await waitUntil('connections', async () => connections.every(({ status }) => status === 'ready'));
  await started.restore();
  await waitUntil('its end', async () => lines.length > 1);
  expect(lines).toEqual([
    ['error', check, expect.stringContaining(word)],
    ['warn', check, undefined],
  ]);
});

test('what changes without a reconnect is noticed: another policy, another role', async () => {
  await using redis = await startRedis();
  const { lines, log } = collectLines();
  using place = watchQueueRedis(redisAt(redis.url), log, 20);
  await using connection = connectRedis(place, retryForever, silent);
  await connection.ping();
  const changes = [
    () => setPolicy(redis, 'allkeys-lfu'),
    () => setPolicy(redis, 'noeviction'),
    () => redis.command('REPLICAOF', '127.0.0.1', '1'),
    () => redis.command('REPLICAOF', 'NO', 'ONE'),
  ];
  for (const [n, change] of changes.entries()) {
    expect(lines).toHaveLength(n);
    await change();
    await waitUntil('a line', async () => lines.length > n);
  }
  expect(lines).toEqual([
    ['error', 'eviction', expect.stringContaining('noeviction')],
    ['warn', 'eviction', undefined],
    ['error', 'role', expect.stringContaining('set REDIS_URL to its master')],
    ['warn', 'role', undefined],
  ]);
});
