import type { Log } from '../log.ts';
import { Outages } from '../outages.ts';
import type { RedisPlace } from './redis.ts';
import type { RedisClient } from './redis-client.ts';
import { mayEvict, memoryOf } from './redis-memory.ts';

const intervalMs = 60_000;

/**
 * The queue Redis at `place`. Logs an error if it may evict jobs, and a warning when it no longer may: once per change, whatever the number of
 * connections. Looks at each connection, and every minute until disposed.
 */
export function watchEviction(place: RedisPlace, log: Log, everyMs = intervalMs): RedisPlace & Disposable {
  const evictions = new Outages(log, {
    begin: 'Queue Redis loses jobs and idempotency keys when it is full: set its maxmemory-policy to noeviction',
    end: 'Queue Redis keeps all jobs again: its maxmemory-policy is noeviction',
    level: 'error',
  });
  let latest: RedisClient | undefined;
  const look = async (redis: RedisClient) => {
    const policy = (await memoryOf(redis)).find(mayEvict)?.policy;
    if (policy === undefined) evictions.end('');
    else evictions.report('', new Error(`its maxmemory-policy is ${policy}`));
  };
  // A failure has a line of its own, that Redis is unreachable.
  const lookIfReady = () => {
    if (latest?.status === 'ready') look(latest).catch(() => {});
  };
  const timer = setInterval(lookIfReady, everyMs).unref();
  return {
    ...place,
    onReady(redis) {
      latest = redis;
      lookIfReady();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
