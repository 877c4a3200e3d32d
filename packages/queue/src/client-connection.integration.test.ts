import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { ClientConnection } from './client-connection.ts';
import { queueOptionsFor } from './queue.fixture.ts';

test('after a reconnect, the channel is subscribed once, not also by ioredis', async () => {
  await using redis = await startRedis();
  await using connection = new ClientConnection(queueOptionsFor(redis.url));
  const channels = () => redis.command('PUBSUB', 'SHARDCHANNELS');
  await waitUntil('a subscription', async () => (await channels()).includes(':replies:'));
  await redis.kill();
  await redis.restart();
  await waitUntil('a subscription again', async () => (await channels()).includes(':replies:'));
  await connection.redis.ping();
  expect(await redis.command('INFO', 'commandstats')).toMatch(/^cmdstat_ssubscribe:calls=1,/m);
});
