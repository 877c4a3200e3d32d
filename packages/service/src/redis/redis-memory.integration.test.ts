import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { connectRedis, failFast } from './redis.ts';
import { redisAt } from './redis-at.fixture.ts';
import { registerQueueMemoryMetrics } from './redis-memory.ts';

test('shows the memory of Redis while it responds', async () => {
  await using redis = await startRedis();
  await redis.command('CONFIG', 'SET', 'maxmemory', '12345678');
  await using connection = connectRedis(redisAt(redis.url), failFast, createLog('test', 'silent'));
  const metrics = new Metrics('test');
  registerQueueMemoryMetrics(metrics, connection);
  // Both values of one scrape: a later one can read Redis again.
  const scrape = async () => {
    const { text } = await metrics.exposition();
    const [used, max] = ['used', 'max'].map((name) =>
      new RegExp(`^echodrop_redis_${name}_memory_bytes\\{redis="queue",service="test"\\} (\\d+)$`, 'm')
        .exec(text)
        ?.at(1),
    );
    return { used, max };
  };
  let last = await scrape();
  const scrapedUntil = (what: string, isReached: () => boolean) =>
    waitUntil(what, async () => {
      last = await scrape();
      return isReached();
    });
  await scrapedUntil('the memory of Redis', () => Number(last.used) > 100_000);
  expect(last.max).toBe('12345678');
  const evicts = async () => /^echodrop_redis_evicts\{.*\} (\d)$/m.exec((await metrics.exposition()).text)?.[1];
  expect(await evicts()).toBe('0');
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
  await waitUntil('the policy', async () => (await evicts()) === '1');
  await redis.kill();
  await scrapedUntil('the series to disappear', () => last.used === undefined);
  expect(last.max).toBeUndefined();
});
