import type { RunningRedis } from './start-redis.ts';

const script = `
  local all = {}
  for _, key in ipairs(redis.call('keys', '*')) do
    table.insert(all, key)
    table.insert(all, redis.call('dump', key) or '')
  end
  return all`;

/** All keys and values, uncompressed, for searches. */
export async function dumpRedis(redis: RunningRedis): Promise<string> {
  await redis.command('config', 'set', 'rdbcompression', 'no');
  return redis.command('eval', script, '0');
}
