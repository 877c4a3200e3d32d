import { Redis, type RedisOptions } from 'ioredis';
import { requiredWithout, type Settings, secret } from './env.ts';
import type { Log } from './log.ts';
import type { Secret } from './secret.ts';

const redisUrl = () => secret({ schemes: ['redis://', 'rediss://'] });

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

/** Answers at once when Redis is down and within two seconds when it hangs (TRAPS, BullMQ). */
export const impatient: RedisOptions = {
  enableOfflineQueue: false,
  commandTimeout: 2000,
  connectTimeout: 2000,
  maxRetriesPerRequest: 0,
};

/** Waits for Redis for as long as it takes: for workers and listeners, which have nothing else to do. */
export const patient: RedisOptions = { connectTimeout: 2000, maxRetriesPerRequest: null };

/** A connection that always comes back by itself; its errors are told once each time it is lost. */
export function connectRedis(url: Secret, manner: RedisOptions, log: Log): Redis & AsyncDisposable {
  const redis = new Redis(url.reveal(), {
    ...manner,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  let lost = false;
  redis.on('ready', () => {
    lost = false;
  });
  redis.on('error', (error) => {
    if (!lost) log.warn({ reason: error.message }, 'redis is out of reach');
    lost = true;
  });
  return Object.assign(redis, {
    async [Symbol.asyncDispose]() {
      redis.disconnect();
    },
  });
}
