import { once } from 'node:events';
import type { RedisOptions } from 'ioredis';
import { requiredWithout, requireSet, type Settings, secret } from '../env.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import { keepConnected } from './keep-connected.ts';
import { InvalidRedisAddress, readRedisAddress } from './redis-address.ts';
import { createRedisClient, type RedisClient } from './redis-client.ts';

const redisUrl = () => secret({ fault: addressFault });
const eitherRedisUrl = redisUrl()
  .optional()
  .describe(
    'one Redis for both roles: `redis://`, `redis+sentinel://` or `redis+cluster://`; `rediss` for TLS ([forms](../host/redis-and-store.md#redis))',
  );

/** Settings of the services with jobs or claims: QUEUE_REDIS_URL, or else REDIS_URL. */
export const queueRedisSettings = {
  REDIS_URL: eitherRedisUrl,
  QUEUE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()).describe(
    'Redis of jobs and idempotency keys. It must not evict. While it is down, only JPEGs without an `Idempotency-Key` can be uploaded',
  ),
};

/** Settings of the services with verdicts or rates: CACHE_REDIS_URL, or else REDIS_URL. */
export const cacheRedisSettings = {
  REDIS_URL: eitherRedisUrl,
  CACHE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()).describe(
    'Redis of verdicts and rate limits. It should evict. If it is down, every upload is verified again and rates are not limited',
  ),
};

export function queueRedisUrl(settings: Settings<typeof queueRedisSettings>): Secret {
  return requireSet(settings.QUEUE_REDIS_URL ?? settings.REDIS_URL);
}

export function cacheRedisUrl(settings: Settings<typeof cacheRedisSettings>): Secret {
  return requireSet(settings.CACHE_REDIS_URL ?? settings.REDIS_URL);
}

function addressFault(url: string): string | undefined {
  try {
    readRedisAddress(url);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRedisAddress) return error.message;
    throw error;
  }
}

/** Fails at once if Redis is down, and within two seconds if it hangs (docs/why/dependencies.md, "BullMQ and ioredis"). */
export const failFast: RedisOptions = {
  enableOfflineQueue: false,
  commandTimeout: 2000,
  connectTimeout: 2000,
  // A silent server may have been replaced; reconnect.
  socketTimeout: 3000,
  maxRetriesPerRequest: 0,
};

/** Waits for Redis indefinitely: for workers and listeners. No command may block for longer than three seconds. */
export const retryForever: RedisOptions = {
  connectTimeout: 2000,
  socketTimeout: 5000,
  maxRetriesPerRequest: null,
};

/** A connection that reconnects by itself, and logs each loss once. */
export function connectRedis(url: Secret, options: RedisOptions, log: Log): RedisClient & AsyncDisposable {
  const redis = createRedisClient(readRedisAddress(url.reveal()), options);
  const lost = new Set<string>();
  const warn = (error: Error, node = '') => {
    if (!lost.has(node)) log.warn({ reason: error.message, ...(node && { node }) }, 'Redis unreachable');
    lost.add(node);
  };
  redis.on('ready', () => {
    // A warning too: who sees the loss must see its end.
    if (lost.delete('')) log.warn('Redis reachable again');
  });
  redis.on('error', (error) => warn(error));
  // Cluster only.
  redis.on('node error', warn);
  redis.on('+node', (node) => node.on('ready', () => lost.delete(`${node.options.host}:${node.options.port}`)));
  const reconnection = keepConnected(redis);
  return Object.assign(redis, {
    async [Symbol.asyncDispose]() {
      reconnection[Symbol.dispose]();
      redis.disconnect();
    },
  });
}

/**
 * Resolves when the first attempt to connect has ended, with or without success, or after `maxMs`. A service that fails fast would else
 * handle its first requests without Redis.
 */
export async function awaitFirstAttempt(redis: RedisClient, maxMs = 2000): Promise<void> {
  if (redis.status === 'ready') return;
  const signal = AbortSignal.timeout(maxMs);
  // `once` rejects at an error.
  await Promise.race(['ready', 'close', 'end'].map((event) => once(redis, event, { signal }))).catch(() => {});
}
