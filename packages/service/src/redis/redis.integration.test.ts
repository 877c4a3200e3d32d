import { setImmediate as nextTurn } from 'node:timers/promises';
import { patienceMs } from '@echodrop/testkit/patience';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { readSettings } from '../env.ts';
import type { Log } from '../log.ts';
import { Secret } from '../secret.ts';
import {
  awaitFirstAttempt,
  cacheRedisSettings,
  cacheRedisUrl,
  connectRedis,
  failFast,
  queueRedisSettings,
  queueRedisUrl,
  retryForever,
} from './redis.ts';

/** A log that collects warnings. */
function collectWarnings() {
  const warnings: unknown[] = [];
  return { warnings, log: { warn: (...line: unknown[]) => warnings.push(line.at(-1)) } as unknown as Log };
}

test('the first attempt to connect is awaited, whether Redis is there, down or hangs', async () => {
  await using redis = await startRedis();
  const { log } = collectWarnings();
  const begin = performance.now();
  {
    await using connection = connectRedis(new Secret(redis.url), failFast, log);
    await awaitFirstAttempt(connection, patienceMs);
    expect(await connection.ping()).toBe('PONG');
    // Already connected.
    await awaitFirstAttempt(connection, patienceMs);
  }
  await redis.freeze();
  {
    await using connection = connectRedis(new Secret(redis.url), failFast, log);
    await awaitFirstAttempt(connection, 1);
    expect(connection.status).not.toBe('ready');
  }
  await redis.thaw();
  await redis.kill();
  await using connection = connectRedis(new Secret(redis.url), failFast, log);
  await awaitFirstAttempt(connection, patienceMs);
  expect(connection.status).not.toBe('ready');
  expect(performance.now() - begin).toBeLessThan(patienceMs);
});

test('failFast rejects at once while Redis is down and in time while it hangs, reconnects by itself, and warns of each loss and its end', async () => {
  await using redis = await startRedis();
  const { log, warnings } = collectWarnings();
  // Only the limit of a command is short: a slow machine may connect late, and freeze Redis for longer.
  const options = { ...failFast, connectTimeout: patienceMs, socketTimeout: patienceMs };
  await using connection = connectRedis(new Secret(redis.url), options, log);
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
  await using connection = connectRedis(new Secret(redis.url), retryForever, log);
  const reply = connection.ping();
  await waitUntil('a failed attempt', async () => warnings.length > 0);
  await redis.restart();
  expect(await reply).toBe('PONG');
});

test('disposing rejects waiting commands', async () => {
  await using redis = await startRedis();
  await redis.kill();
  const connection = connectRedis(new Secret(redis.url), retryForever, collectWarnings().log);
  const reply = connection.ping();
  await connection[Symbol.asyncDispose]();
  await expect(reply).rejects.toThrow('Connection is closed');
});

test.each([
  [{ REDIS_URL: 'redis://a' }, 'redis://a', 'redis://a'],
  [{ QUEUE_REDIS_URL: 'redis://b', CACHE_REDIS_URL: 'rediss://c' }, 'redis://b', 'rediss://c'],
  [{ REDIS_URL: 'redis://a', CACHE_REDIS_URL: 'redis://c' }, 'redis://a', 'redis://c'],
])('%j: addresses of queue and cache Redis', (env, queue, cache) => {
  expect(queueRedisUrl(readSettings(queueRedisSettings, env)).reveal()).toBe(queue);
  expect(cacheRedisUrl(readSettings(cacheRedisSettings, env)).reveal()).toBe(cache);
});

test.each([
  [{}, 'is required if REDIS_URL is not set'],
  [{ REDIS_URL: 'http://a' }, 'REDIS_URL must be a redis:// or rediss:// address'],
  [{ REDIS_URL: 'redis+sentinel://a:1' }, "REDIS_URL must end with the master's name"],
])('%j is invalid', (env, fault) => {
  expect(() => readSettings(queueRedisSettings, env)).toThrow(fault);
  expect(() => readSettings(cacheRedisSettings, env)).toThrow(fault);
});
