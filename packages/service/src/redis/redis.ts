import type { RedisOptions } from 'ioredis';
import { requiredWithout, type Settings, secret } from '../env.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import { keepConnected } from './keep-connected.ts';
import { RedisAddressFault, readRedisAddress } from './redis-address.ts';
import { createRedisClient, type RedisClient } from './redis-client.ts';

const redisUrl = () => secret({ fault: addressFault });

/** The Redis of jobs, which must not be evicted: QUEUE_REDIS_URL, else REDIS_URL. */
export const queueRedisSettings = {
  REDIS_URL: redisUrl().optional(),
  QUEUE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()),
};

/** The Redis of cached verdicts, which should be: CACHE_REDIS_URL, else REDIS_URL. */
export const cacheRedisSettings = {
  REDIS_URL: redisUrl().optional(),
  CACHE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()),
};

export function queueRedisUrl(settings: Settings<typeof queueRedisSettings>): Secret {
  return given(settings.QUEUE_REDIS_URL ?? settings.REDIS_URL);
}

export function cacheRedisUrl(settings: Settings<typeof cacheRedisSettings>): Secret {
  return given(settings.CACHE_REDIS_URL ?? settings.REDIS_URL);
}

// readSettings has refused settings without it.
function given(url: Secret | undefined): Secret {
  if (!url) throw new TypeError('no address of a Redis');
  return url;
}

function addressFault(url: string): string | undefined {
  try {
    readRedisAddress(url);
    return undefined;
  } catch (error) {
    if (error instanceof RedisAddressFault) return error.message;
    throw error;
  }
}

/** Answers at once when Redis is down and within two seconds when it hangs (docs/dependencies.md, "BullMQ and ioredis"). */
export const failFast: RedisOptions = {
  enableOfflineQueue: false,
  commandTimeout: 2000,
  connectTimeout: 2000,
  // A server that says nothing may have been replaced: then this connection is of no use any more.
  socketTimeout: 3000,
  maxRetriesPerRequest: 0,
};

/**
 * Waits for Redis for as long as it takes: for workers and listeners, which have nothing else to do. No command may block for
 * longer than three seconds.
 */
export const retryForever: RedisOptions = {
  connectTimeout: 2000,
  socketTimeout: 5000,
  maxRetriesPerRequest: null,
};

/** A connection that always comes back by itself; its errors are told once each time it is lost. */
export function connectRedis(url: Secret, manner: RedisOptions, log: Log): RedisClient & AsyncDisposable {
  const redis = createRedisClient(readRedisAddress(url.reveal()), manner);
  const lost = new Set<string>();
  const tell = (error: Error, node = '') => {
    if (!lost.has(node)) log.warn({ reason: error.message, ...(node && { node }) }, 'Redis unreachable');
    lost.add(node);
  };
  redis.on('ready', () => lost.delete(''));
  redis.on('error', (error) => tell(error));
  // Of a cluster.
  redis.on('node error', tell);
  redis.on('+node', (node) => node.on('ready', () => lost.delete(`${node.options.host}:${node.options.port}`)));
  const kept = keepConnected(redis);
  return Object.assign(redis, {
    async [Symbol.asyncDispose]() {
      kept[Symbol.dispose]();
      redis.disconnect();
    },
  });
}
