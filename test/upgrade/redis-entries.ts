import type { RunningRedis } from '@echodrop/testkit/servers/start-redis';

/** A key of Redis with its value, fields and values, scores and members, or elements. */
export interface RedisEntry {
  readonly key: string;
  readonly type: keyof typeof commands;
  readonly words: readonly string[];
}

const commands = {
  string: { read: `{redis.call('get', KEYS[1])}`, write: 'set' },
  hash: { read: `redis.call('hgetall', KEYS[1])`, write: 'hset' },
  zset: { read: `redis.call('zrange', KEYS[1], 0, -1, 'withscores')`, write: 'zadd' },
  list: { read: `redis.call('lrange', KEYS[1], 0, -1)`, write: 'rpush' },
};

/** The queues of renditions, and all claims. */
export async function readEntries(redis: RunningRedis): Promise<RedisEntry[]> {
  const entries: RedisEntry[] = [];
  for (const pattern of ['{echodrop}:rendition-*', 'echodrop:idempotency:*']) {
    for (const key of (await redis.command('keys', pattern)).split('\n').sort()) {
      const type = await redis.command('type', key);
      // Streams are logs of what happened to jobs.
      if (!isKnown(type) || key.endsWith(':stalled-check')) continue;
      const words = (await redis.command('eval', `return ${commands[type].read}`, '1', key)).split('\n');
      // Redis returns a member before its score, and takes it after.
      const written = type === 'zset' ? words.map((_, n) => words[n % 2 === 0 ? n + 1 : n - 1] ?? '') : words;
      entries.push({ key, type, words: written });
    }
  }
  return entries;
}

export async function writeEntries(redis: RunningRedis, entries: readonly RedisEntry[]): Promise<void> {
  for (const { key, type, words } of entries) await redis.command(commands[type].write, key, ...words);
}

function isKnown(type: string): type is RedisEntry['type'] {
  return type in commands;
}
