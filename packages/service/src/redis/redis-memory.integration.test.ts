import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import { connectRedis, failFast } from './redis.ts';
import { registerQueueMemoryMetrics } from './redis-memory.ts';

test('shows the memory of Redis while it responds', async () => {
  await using redis = await startRedis();
  await redis.command('CONFIG', 'SET', 'maxmemory', '12345678');
  await using connection = connectRedis(new Secret(redis.url), failFast, createLog('test', 'silent'));
  const metrics = new Metrics('test');
  registerQueueMemoryMetrics(metrics, connection);
  const metric = async (name: string) => {
    const { text } = await metrics.exposition();
    return new RegExp(`^echodrop_redis_${name}_memory_bytes\\{redis="queue",service="test"\\} (\\d+)$`, 'm').exec(
      text,
    )?.[1];
  };
  await waitUntil('the memory of Redis', async () => Number(await metric('used')) > 100_000);
  expect(await metric('max')).toBe('12345678');
  await redis.kill();
  await waitUntil('the series to disappear', async () => (await metric('used')) === undefined);
  expect(await metric('max')).toBeUndefined();
});
