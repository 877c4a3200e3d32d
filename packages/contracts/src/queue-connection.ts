import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@echodrop/service/log';
import { connectRedis, patient } from '@echodrop/service/redis';
import type { Secret } from '@echodrop/service/secret';
import type { Redis, RedisOptions } from 'ioredis';

/** The Redis that holds the jobs, and whom to tell of its troubles. */
export interface QueueConnection {
  readonly url: Secret;
  readonly log: Log;
}

// In braces, so that all keys of a queue lie on one node of a Redis Cluster.
export const queuePrefix = '{echodrop}';

/** What every job carries beside its question: a later release knows by `version` how to read it. */
export interface JobData<Q> {
  readonly version: 1;
  /** Milliseconds since 1970 after which nobody waits for the answer any more. */
  readonly deadline: number;
  readonly question: Q;
}

/**
 * A connection that waits for Redis for as long as it takes. BullMQ makes copies of it for what blocks, and does not end them
 * where Redis is out of reach; disposing ends the copies too.
 */
export function connectPatiently({ url, log }: QueueConnection): Redis & AsyncDisposable {
  const redis = connectRedis(url, patient, log);
  const copies: Redis[] = [];
  const duplicate = redis.duplicate.bind(redis);
  return Object.assign(redis, {
    duplicate(override?: Partial<RedisOptions>) {
      const copy = duplicate(override).on('error', () => {});
      copies.push(copy);
      return copy;
    },
    async [Symbol.asyncDispose]() {
      for (const each of [...copies, redis]) if (each.status !== 'end') each.disconnect();
    },
  });
}

/** How long BullMQ may take to close: with Redis out of reach it would wait for ever (measured with BullMQ 6.7). */
export const closingMs = 2000;

/** Waits for `closing`, but no longer than `ms`. */
export async function within(ms: number, closing: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([closing, late]).finally(() => over.abort());
}
