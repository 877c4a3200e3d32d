import { setImmediate as nextTurn } from 'node:timers/promises';
import { patienceMs } from '@echodrop/testkit/patience';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { startSentinels } from '@echodrop/testkit/servers/start-sentinels';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { readSettings } from '../env.ts';
import type { Log } from '../log.ts';
import { reasonOf } from '../reason-of.ts';
import { RefusedSetting } from '../refused-setting.ts';
import {
  awaitFirstAttempt,
  cacheRedis,
  cacheRedisSettings,
  connectRedis,
  failFast,
  queueRedis,
  queueRedisSettings,
  retryForever,
} from './redis.ts';
import { redisAt } from './redis-at.fixture.ts';
import type { RedisNode } from './redis-client.ts';

/** A log that collects warnings and errors. */
function collectWarnings() {
  const warnings: unknown[] = [];
  const add = (...line: unknown[]) => warnings.push(line.at(-1));
  return { warnings, log: { warn: add, error: add } as unknown as Log };
}

test('the first attempt to connect is awaited, whether Redis is there, down or hangs', async () => {
  await using redis = await startRedis();
  const { log } = collectWarnings();
  const begin = performance.now();
  {
    await using connection = connectRedis(redisAt(redis.url), failFast, log);
    await awaitFirstAttempt(connection, patienceMs);
    expect(await connection.ping()).toBe('PONG');
    // Already connected.
    await awaitFirstAttempt(connection, patienceMs);
  }
  await redis.freeze();
  {
    await using connection = connectRedis(redisAt(redis.url), failFast, log);
    await awaitFirstAttempt(connection, 1);
    expect(connection.status).not.toBe('ready');
  }
  await redis.thaw();
  await redis.kill();
  await using connection = connectRedis(redisAt(redis.url), failFast, log);
  await awaitFirstAttempt(connection, patienceMs);
  expect(connection.status).not.toBe('ready');
  expect(performance.now() - begin).toBeLessThan(patienceMs);
});

test('failFast rejects at once while Redis is down and in time while it hangs, reconnects by itself, and warns of each loss and its end', async () => {
  await using redis = await startRedis();
  const { log, warnings } = collectWarnings();
  // Only the limit of a command is short: a slow machine may connect late, and freeze Redis for longer.
  const options = { ...failFast, connectTimeout: patienceMs, socketTimeout: patienceMs };
  await using connection = connectRedis(redisAt(redis.url), options, log);
  let errors = 0;
  connection.on('error', () => {
    errors += 1;
  });
  const pongs = () => waitUntil('a pong', async () => (await connection.ping()) === 'PONG');
  await pongs();
  await redis.freeze();
  const begin = performance.now();
  await expect(connection.ping()).rejects.toThrow('Command timed out');
  expect(performance.now() - begin).toBeLessThan(patienceMs / 3);
  await redis.thaw();
  await pongs();
  expect(warnings).toEqual([]);
  const outages: string[] = [];
  for (const _ of [1, 2]) {
    outages.push('Redis unreachable');
    await redis.kill();
    await waitUntil('a warning', async () => warnings.length === outages.length);
    await expect(Promise.race([connection.ping(), nextTurn()])).rejects.toThrow();
    // Further attempts do not repeat the warning.
    const before = errors;
    await waitUntil('further attempts', async () => errors >= before + 2);
    expect(warnings).toEqual(outages);
    await redis.restart();
    await pongs();
    outages.push('Redis reachable again');
    expect(warnings).toEqual(outages);
  }
});

test('retryForever waits until Redis is available', async () => {
  await using redis = await startRedis();
  await redis.kill();
  const { log, warnings } = collectWarnings();
  await using connection = connectRedis(redisAt(redis.url), retryForever, log);
  const reply = connection.ping();
  await waitUntil('a failed attempt', async () => warnings.length > 0);
  await redis.restart();
  expect(await reply).toBe('PONG');
});

test('disposing rejects waiting commands', async () => {
  await using redis = await startRedis();
  await redis.kill();
  const connection = connectRedis(redisAt(redis.url), retryForever, collectWarnings().log);
  const reply = connection.ping();
  await connection[Symbol.asyncDispose]();
  await expect(reply).rejects.toThrow('Connection is closed');
});

test.each([
  [{ REDIS_URL: 'redis://a' }, 'redis://a', 'redis://a'],
  [{ QUEUE_REDIS_URL: 'redis://b', CACHE_REDIS_URL: 'rediss://c' }, 'redis://b', 'rediss://c'],
  [{ REDIS_URL: 'redis://a', CACHE_REDIS_URL: 'redis://c' }, 'redis://a', 'redis://c'],
])('%j: addresses of queue and cache Redis', (env, queue, cache) => {
  expect(queueRedis(readSettings(queueRedisSettings, env)).url.reveal()).toBe(queue);
  expect(cacheRedis(readSettings(cacheRedisSettings, env)).url.reveal()).toBe(cache);
});

test.each([
  [{}, 'is required if REDIS_URL is not set'],
  [{ REDIS_URL: 'http://a' }, 'REDIS_URL must be a redis:// or rediss:// address'],
  [{ REDIS_URL: 'redis+sentinel://a:1' }, "REDIS_URL must end with the master's name"],
])('%j is invalid', (env, fault) => {
  expect(() => readSettings(queueRedisSettings, env)).toThrow(fault);
  expect(() => readSettings(cacheRedisSettings, env)).toThrow(fault);
});

const noDatabase = /^Redis refused database 16 of the address \(ERR DB index is out of range\)\. Use a number that/;

test.each([
  ['failFast', failFast],
  ['retryForever', retryForever],
])('%s: a database that the server lacks is refused, and no command reaches database 0', async (_, options) => {
  await using redis = await startRedis();
  const { log, warnings } = collectWarnings();
  await using connection = connectRedis(redisAt(`${redis.url}/16`), options, log);
  const copy = (connection as RedisNode).duplicate();
  copy.on('error', () => {});
  const replies: unknown[] = [];
  for (const each of [connection, copy])
    each.set('a key', 'a value').then(
      (reply) => replies.push(reply),
      () => {},
    );
  await expect(connection.awaitReady()).rejects.toThrow(noDatabase);
  expect(() => connection.requireReady()).toThrow(RefusedSetting);
  let attempts = 0;
  for (const each of [connection, copy]) {
    each.on('connect', () => {
      attempts += 1;
    });
    await waitUntil('further attempts', async () => attempts >= 3);
    attempts = 0;
  }
  expect(warnings).toEqual(['Redis refused the database']);
  copy.disconnect();
  expect(replies).toEqual([]);
  expect(await redis.command('DBSIZE')).toBe('0');
});

test('a database that is refused after a reconnect is not replaced by database 0, until the server accepts it again', async () => {
  await using redis = await startRedis();
  const { log, warnings } = collectWarnings();
  await using connection = connectRedis(redisAt(`${redis.url}/3`), failFast, log);
  await waitUntil('a connection', async () => (await connection.set('a key', 'first')) === 'OK');
  await redis.command('ACL', 'SETUSER', 'default', '-select');
  await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
  await expect.poll(() => connection.awaitReady().catch(String)).toMatch(/refused database 3 .*NOPERM/);
  await expect(connection.set('a key', 'second')).rejects.toThrow();
  await redis.command('ACL', 'SETUSER', 'default', '+select');
  await waitUntil('a connection again', async () => (await connection.get('a key')) === 'first');
  await connection.awaitReady();
  expect((await redis.command('INFO', 'keyspace')).match(/^db\d+:keys=\d+/gm)).toEqual(['db3:keys=1']);
  expect(warnings.at(-1)).toBe('Redis accepted the database again');
  expect(warnings.filter((line) => line === 'Redis refused the database')).toHaveLength(1);
});

test('with sentinels, the database of the address is refused too', async () => {
  await using redis = await startRedis();
  const watch = { name: 'mine', masterPort: redis.port, replicas: 0, downAfterMs: patienceMs };
  await using sentinels = await startSentinels(watch);
  const address = `redis+sentinel://127.0.0.1:${sentinels.ports[0]}/mine/16`;
  await using connection = connectRedis(redisAt(address), failFast, collectWarnings().log);
  await expect.poll(() => connection.awaitReady().catch(reasonOf)).toMatch(noDatabase);
  await expect(connection.set('a key', 'a value')).rejects.toThrow();
  expect(await redis.command('DBSIZE')).toBe('0');
});

test('an outage is no fault of the database, and its reason is known', async () => {
  await using redis = await startRedis();
  await redis.kill();
  await using connection = connectRedis(redisAt(`${redis.url}/16`), failFast, collectWarnings().log);
  await waitUntil('a failed attempt', async () => connection.status === 'reconnecting');
  const error = await connection.awaitReady().catch((error: unknown) => error);
  expect(reasonOf(error)).toBe(`Redis unreachable: connect ECONNREFUSED 127.0.0.1:${redis.port}`);
  expect(error).not.toBeInstanceOf(RefusedSetting);
});
