import { once } from 'node:events';
import type { RedisOptions } from 'ioredis';
import { requiredWithout, requireSet, type Settings, secret } from '../env.ts';
import type { Log } from '../log.ts';
import { Outages } from '../outages.ts';
import { RefusedSetting } from '../refused-setting.ts';
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
    'Redis of jobs and idempotency keys. It must not evict ([effects of its loss](../host/runbooks.md#what-fails-with-which-component))',
  ),
  ...redisPrefixSetting,
};

/** Settings of the services with verdicts or rates: CACHE_REDIS_URL, or else REDIS_URL. */
export const cacheRedisSettings = {
  REDIS_URL: eitherRedisUrl,
  CACHE_REDIS_URL: requiredWithout('REDIS_URL', redisUrl()).describe(
    'Redis of verdicts and rate limits. It should evict',
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

/** Waits for Redis indefinitely, as workers and listeners do. No command may block for longer than three seconds. */
export const retryForever: RedisOptions = {
  connectTimeout: 2000,
  socketTimeout: 5000,
  maxRetriesPerRequest: null,
};

// A readiness check waits so long for an attempt to connect.
const attemptMs = 1000;

/** A connection that reconnects by itself, and knows why it cannot. */
export type RedisConnection = RedisClient &
  AsyncDisposable & {
    readonly names: RedisNames;
    /** @throws Error that says what keeps it from connecting: commands would wait, or fail without a reason. RefusedSetting */
    requireReady(): void;
    /** As `requireReady`, but waits for an attempt to connect, at most a second, if none has failed since the last connection. */
    awaitReady(): Promise<void>;
  };

/** Connects, and again after each loss. Logs each loss once, and each refusal of the database. */
export function connectRedis({ url, names, onReady }: RedisPlace, options: RedisOptions, log: Log): RedisConnection {
  const redis = createRedisClient(readRedisAddress(url.reveal()), options);
  const secrets = [url];
  // Reasons alternate while a client reconnects.
  const messages = { begin: 'Redis unreachable', end: 'Redis reachable again', field: 'node', maxReasons: 1 };
  const outages = new Outages(log, { ...messages, secrets });
  const refusalMessages = { begin: 'Redis refused the database', end: 'Redis accepted the database again' };
  const refusals = new Outages(log, { ...refusalMessages, level: 'error', secrets });
  let fault: Error | undefined;
  redis.on('ready', () => {
    fault = undefined;
    outages.end('');
    refusals.end('');
    onReady?.(redis);
  });
  redis.on('error', (error) => {
    // This error is what remained of the handshake after the refusal.
    if (fault instanceof RefusedSetting && redis.status === 'connect') return;
    fault = databaseRefusal(error) ?? error;
    (fault instanceof RefusedSetting ? refusals : outages).report('', fault);
  });
  // Only a cluster emits these events.
  redis.on('node error', (error, node) => outages.report(node, error));
  redis.on('+node', (node) => node.on('ready', () => outages.end(`${node.options.host}:${node.options.port}`)));
  const reconnection = keepConnected(redis);
  return Object.assign(redis, {
    names,
    requireReady() {
      if (redis.status === 'ready') return;
      throw fault instanceof RefusedSetting ? fault : new Error('Redis unreachable', { cause: fault });
    },
    async awaitReady() {
      if (!fault) await awaitFirstAttempt(redis, attemptMs);
      this.requireReady();
    },
    async [Symbol.asyncDispose]() {
      reconnection[Symbol.dispose]();
      redis.disconnect();
    },
  });
}

/** Resolves if Redis responds. @throws Error that says why not */
export async function checkRedis(redis: RedisConnection): Promise<void> {
  await redis.awaitReady();
  await redis.ping();
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
