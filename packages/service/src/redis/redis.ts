import { once } from 'node:events';
import type { RedisOptions } from 'ioredis';
import { requiredWithout, requireSet, type Settings, secret } from '../env.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import { keepConnected } from './keep-connected.ts';
import { InvalidRedisAddress, readRedisAddress } from './redis-address.ts';
import { createRedisClient, databaseRefusal, type RedisClient } from './redis-client.ts';
import { RedisNames, redisPrefixSetting } from './redis-names.ts';

const redisUrl = () => secret({ fault: addressFault });
const eitherRedisUrl = redisUrl()
  .optional()
  .describe('one Redis for both roles ([addresses](../host/redis-and-store.md#redis))');

/** Settings of the services with jobs or claims: QUEUE_REDIS_URL, or else REDIS_URL. */
export const queueRedisSettings = {
  REDIS_URL: eitherRedisUrl,
  QUEUE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()).describe(
    'Redis of jobs and idempotency keys. It must not evict. Without it, only [some JPEGs](../host/runbooks.md#what-fails-with-which-component) can be uploaded',
  ),
  ...redisPrefixSetting,
};

/** Settings of the services with verdicts or rates: CACHE_REDIS_URL, or else REDIS_URL. */
export const cacheRedisSettings = {
  REDIS_URL: eitherRedisUrl,
  CACHE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()).describe(
    'Redis of verdicts and rate limits. It should evict. Without it, every upload is verified again and rates are unlimited',
  ),
  ...redisPrefixSetting,
};

/** The address of a Redis, and the names that a system uses in it. */
export interface RedisPlace {
  readonly url: Secret;
  readonly names: RedisNames;
  /** Called with each connection whenever it is ready. */
  readonly onReady?: (redis: RedisClient) => void;
}

/** Where jobs and claims are. */
export function queueRedis(settings: Settings<typeof queueRedisSettings>): RedisPlace {
  return placeOf(settings.QUEUE_REDIS_URL ?? settings.REDIS_URL, settings.REDIS_PREFIX);
}

/** Where verdicts and rates are. */
export function cacheRedis(settings: Settings<typeof cacheRedisSettings>): RedisPlace {
  return placeOf(settings.CACHE_REDIS_URL ?? settings.REDIS_URL, settings.REDIS_PREFIX);
}

function placeOf(url: Secret | undefined, prefix: string): RedisPlace {
  return { url: requireSet(url), names: new RedisNames(prefix) };
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

// A readiness check waits no longer for it.
const firstAttemptMs = 1000;

/** A connection that reconnects by itself, and knows why it cannot. */
export type RedisConnection = RedisClient &
  AsyncDisposable & {
    readonly names: RedisNames;
    /** @throws Error that says why there is no connection, once an attempt has failed */
    requireConnected(): void;
    /** Unlike `requireConnected`, accepts an outage. @throws Error if the server has refused the database of the address */
    requireDatabase(): Promise<void>;
  };

/** Connects, and again after each loss. Logs each loss once, and each refusal of the database. */
export function connectRedis({ url, names, onReady }: RedisPlace, options: RedisOptions, log: Log): RedisConnection {
  const redis = createRedisClient(readRedisAddress(url.reveal()), options);
  const lost = new Set<string>();
  let fault: Error | undefined;
  let refusal: Error | undefined;
  let firstAttempt: Promise<void> | undefined;
  const warn = (error: Error, node = '') => {
    if (!lost.has(node)) log.warn({ reason: error.message, ...(node && { node }) }, 'Redis unreachable');
    lost.add(node);
  };
  redis.on('ready', () => {
    // A warning too: who sees the loss must see its end.
    if (lost.delete('') || refusal) log.warn('Redis reachable again');
    fault = refusal = undefined;
    onReady?.(redis);
  });
  redis.on('error', (error) => {
    // What remained of the handshake after the refusal.
    if (refusal && redis.status === 'connect') return;
    const isKnown = refusal !== undefined;
    refusal = databaseRefusal(error);
    fault = refusal ?? new Error(`Redis unreachable: ${error.message}`);
    if (!refusal) warn(error);
    else if (!isKnown) log.error({ reason: refusal.message }, 'Redis refused the database');
  });
  // Cluster only.
  redis.on('node error', warn);
  redis.on('+node', (node) => node.on('ready', () => lost.delete(`${node.options.host}:${node.options.port}`)));
  const reconnection = keepConnected(redis);
  return Object.assign(redis, {
    names,
    requireConnected() {
      if (redis.status !== 'ready' && fault) throw fault;
    },
    async requireDatabase() {
      firstAttempt ??= awaitFirstAttempt(redis, firstAttemptMs);
      await firstAttempt;
      if (refusal) throw refusal;
    },
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
