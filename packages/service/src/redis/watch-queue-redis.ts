import type { Log } from '../log.ts';
import { Outages } from '../outages.ts';
import type { RedisPlace } from './redis.ts';
import { nodesOf, type RedisClient } from './redis-client.ts';
import { mayEvict, memoryOf } from './redis-memory.ts';

const intervalMs = 60_000;
// The replies of queues need these commands. BullMQ's own commands are older.
const commandsOfRedis7 = ['SSUBSCRIBE', 'SPUBLISH'];

/** What can be wrong with the queue Redis. Each resolves with what is wrong, and what to do. */
const checks: Readonly<Record<string, (redis: RedisClient) => Promise<string | undefined>>> = {
  async eviction(redis) {
    const policy = (await memoryOf(redis)).find(mayEvict)?.policy;
    if (policy === undefined) return undefined;
    return `it loses jobs and idempotency keys when it is full: set its maxmemory-policy, ${policy}, to noeviction`;
  },
  async role(redis) {
    const infos = await Promise.all(nodesOf(redis).map((node) => node.info('replication')));
    if (!infos.some((info) => /^role:slave/m.test(info))) return undefined;
    return 'it is a replica, which takes no writes: set REDIS_URL to its master';
  },
  async version(redis) {
    const found = await Promise.all(nodesOf(redis).map((node) => node.command('INFO', ...commandsOfRedis7)));
    const missing = commandsOfRedis7.filter((_, n) => found.some((infos) => infos[n] === null));
    if (missing.length === 0) return undefined;
    return `it is too old (no ${missing.join(', ')}), so uploads and new pictures take two seconds longer: use Redis 7 or newer, or Valkey`;
  },
};

/**
 * The queue Redis at `place`. Logs an error if it may evict jobs, takes no writes or is older than Redis 7, and a warning when that is over: once per
 * change, whatever the number of connections. Looks at each connection, and every minute until disposed.
 */
export function watchQueueRedis(place: RedisPlace, log: Log, everyMs = intervalMs): RedisPlace & Disposable {
  const messages = { begin: 'Queue Redis is unsuitable', end: 'Queue Redis is suitable again' };
  const outages = new Outages(log, { ...messages, level: 'error', field: 'check' });
  let latest: RedisClient | undefined;
  const lookIfReady = () => {
    const redis = latest;
    if (redis?.status !== 'ready') return;
    for (const [name, check] of Object.entries(checks))
      check(redis).then(
        (fault) => (fault === undefined ? outages.end(name) : outages.report(name, new Error(fault))),
        // A failure has a line of its own, that Redis is unreachable.
        () => {},
      );
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
