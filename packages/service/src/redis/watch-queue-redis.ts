import type { Log } from '../log.ts';
import { Outages } from '../outages.ts';
import type { RedisPlace } from './redis.ts';
import { nodesOf, type RedisClient } from './redis-client.ts';
import { mayEvict, memoryOf } from './redis-memory.ts';

const intervalMs = 60_000;
// Of the queues' replies. Those of BullMQ are older.
const commandsOfRedis7 = ['SSUBSCRIBE', 'SPUBLISH'];

/**
 * The queue Redis at `place`. Logs an error if it may evict jobs, takes no writes or is older than Redis 7, and a warning when that is over: once per
 * change, whatever the number of connections. Looks at each connection, and every minute until disposed.
 */
export function watchQueueRedis(place: RedisPlace, log: Log, everyMs = intervalMs): RedisPlace & Disposable {
  const evictions = new Outages(log, {
    begin: 'Queue Redis loses jobs and idempotency keys when it is full: set its maxmemory-policy to noeviction',
    end: 'Queue Redis keeps all jobs again: its maxmemory-policy is noeviction',
    level: 'error',
  });
  const oldVersions = new Outages(log, {
    begin: 'Queue Redis is too old: uploads and new pictures take two seconds longer. Use Redis 7 or newer, or Valkey',
    end: 'Queue Redis is no longer too old',
    level: 'error',
  });
  const replicas = new Outages(log, {
    begin: 'Queue Redis is a replica, which takes no writes: set REDIS_URL to its master',
    end: 'Queue Redis takes writes again',
    level: 'error',
  });
  const lookAtRole = async (redis: RedisClient) => {
    const infos = await Promise.all(nodesOf(redis).map((node) => node.info('replication')));
    if (infos.some((info) => /^role:slave/m.test(info))) replicas.report('', new Error('its role is replica'));
    else replicas.end('');
  };
  const lookAtPolicy = async (redis: RedisClient) => {
    const policy = (await memoryOf(redis)).find(mayEvict)?.policy;
    if (policy === undefined) evictions.end('');
    else evictions.report('', new Error(`its maxmemory-policy is ${policy}`));
  };
  const lookAtCommands = async (redis: RedisClient) => {
    const missing = await missingCommands(redis);
    if (missing.length === 0) oldVersions.end('');
    else oldVersions.report('', new Error(`it lacks ${missing.join(' and ')}`));
  };
  let latest: RedisClient | undefined;
  // A failure has a line of its own, that Redis is unreachable.
  const lookIfReady = () => {
    if (latest?.status !== 'ready') return;
    for (const look of [lookAtPolicy, lookAtRole, lookAtCommands]) look(latest).catch(() => {});
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

async function missingCommands(redis: RedisClient): Promise<string[]> {
  const found = await Promise.all(nodesOf(redis).map((node) => node.command('INFO', ...commandsOfRedis7)));
  return commandsOfRedis7.filter((_, n) => found.some((infos) => infos[n] === null));
}
