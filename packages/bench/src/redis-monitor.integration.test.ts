import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { expect, test } from 'vitest';
import { RedisMonitor } from './redis-monitor.ts';

test("counts BullMQ's scripts and other commands, but not the calls of scripts", async () => {
  await using redis = await startRedis();
  using monitor = await RedisMonitor.start(redis.port);
  const script = "redis.call('SET', KEYS[1], '1'); return redis.call('GET', KEYS[1])";
  await redis.command('EVAL', script, '1', '{echodrop}:probe-photos:wait');
  await redis.command('EVAL', script, '1', 'echodrop:1:verdict');
  await redis.command('GET', 'a\r\n"b"');
  await redis.command('GET', 'the last one');
  await expect.poll(() => monitor.counted).toMatchObject({ scripts: 1, others: { eval: 1, get: 2 } });
  expect(monitor.take().others).not.toHaveProperty('set');
  expect(monitor.take()).toEqual({ scripts: 0, others: {} });
});
