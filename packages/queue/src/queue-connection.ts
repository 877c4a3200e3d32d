import { setTimeout as sleep } from 'node:timers/promises';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Log } from '@echodrop/service/log';
import { keepConnected } from '@echodrop/service/redis/keep-connected';
import { connectRedis, type RedisConnection, type RedisPlace, retryForever } from '@echodrop/service/redis/redis';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { Forgeries } from '@echodrop/service/seals/forgeries';
import { Queue } from 'bullmq';
import type { RedisOptions } from 'ioredis';

/** Limits of waits, in milliseconds. */
export interface QueueLimits {
  /** How often a waiting client looks for the end of its job, in case the reply was lost. */
  readonly pollMs: number;
  /** How long closing may take: BullMQ 6.7 never finishes it while Redis is unreachable. */
  readonly closeMs: number;
  /** Options of the connections, instead of those of `failFast` and `retryForever`. */
  readonly redis: Pick<RedisOptions, 'commandTimeout' | 'connectTimeout' | 'socketTimeout'>;
}

export const defaultLimits: QueueLimits = { pollMs: 2000, closeMs: 2000, redis: {} };

export interface QueueOptions {
  readonly redis: RedisPlace;
  /** The secret of the seals of jobs and replies. Only clients and workers of these queues know it. */
  readonly secret: RotatedSecret;
  readonly forgeries: Pick<Forgeries, 'report'>;
  readonly log: Log;
  readonly limits?: QueueLimits;
}

/** The payload version. Ids of shared jobs contain it, so that versions do not collide. Version 1 had no seals. */
export const jobVersion = 2;

export interface JobData<Q> {
  readonly version: typeof jobVersion;
  /** Milliseconds since 1970 after which no worker begins the job. */
  readonly deadline: number;
  /** W3C Trace Context. */
  readonly traceparent?: string | undefined;
  /** The channel for the end of the job. A job in the slow lane has none. */
  readonly reply?: string;
  /** The request. */
  readonly question: Q;
  /** The seal that `JobSeals` made. */
  readonly seal: string;
}

/**
 * A connection that waits for Redis as long as it takes. BullMQ duplicates it for blocking commands, but does not end a duplicate
 * while Redis is out of reach, nor revive one that ioredis gave up. This connection does both.
 */
export function connectWorkerRedis({ redis: place, log, limits = defaultLimits }: QueueOptions): RedisConnection {
  const redis = connectRedis(place, { ...retryForever, ...limits.redis }, log.child({ redis: 'queue' }));
  const copies = new DisposableStack();
  const duplicate: (...overrides: never[]) => RedisClient = redis.duplicate.bind(redis);
  const dispose = redis[Symbol.asyncDispose];
  return Object.assign(redis, {
    duplicate(...overrides: never[]) {
      const copy = duplicate(...overrides).on('error', () => {});
      copies.defer(() => {
        if (copy.status !== 'end') copy.disconnect();
      });
      copies.use(keepConnected(copy));
      return copy;
    },
    async [Symbol.asyncDispose]() {
      copies.dispose();
      await dispose();
    },
  });
}

/** A queue on a connection, which reports its own failures. */
export function openQueue<Q, R>(name: string, connection: RedisConnection): Queue<JobData<Q>, R, string> {
  // BullMQ checks the version once; if that failed, it would refuse every later job.
  return new Queue(name, { connection, prefix: connection.names.queues, skipVersionCheck: true }).on('error', () => {});
}

/** Resolves if Redis responds and the queues' keys may be used. @throws Error that says why not */
export async function requireQueues(redis: RedisConnection): Promise<void> {
  await redis.awaitReady();
  const { prefix, queues } = redis.names;
  try {
    await redis.exists(queues);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOPERM'))) throw error;
    throw new Error(
      `Redis does not let this user use names that begin with ${queues} (${error.message}). ` +
        `Run deploy/make-secrets with REDIS_PREFIX=${prefix}, and load the users that it writes`,
      { cause: error },
    );
  }
}

/** The longest wait of a blocking command: less than the connection's socket timeout. */
export const blockingSeconds = 3;

/** Waits until `closing` settles, but at most `ms`. */
export async function waitAtMost(ms: number, closing: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([closing.catch(() => {}), late]).finally(() => over.abort());
}
