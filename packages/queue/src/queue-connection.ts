import { setTimeout as sleep } from 'node:timers/promises';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Forgeries } from '@echodrop/service/forgeries';
import type { Log } from '@echodrop/service/log';
import { keepConnected } from '@echodrop/service/redis/keep-connected';
import { connectRedis, retryForever } from '@echodrop/service/redis/redis';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { Secret } from '@echodrop/service/secret';

/** The Redis that holds the jobs, and whom to tell of its troubles. */
export interface QueueOptions {
  readonly url: Secret;
  /** Seals the jobs and answers of these queues: both ends have it, and nobody else. */
  readonly secret: RotatedSecret;
  readonly forgeries: Pick<Forgeries, 'found'>;
  readonly log: Log;
}

// In braces, so that all keys of a queue lie on one node of a Redis Cluster.
export const queuePrefix = '{echodrop}';

/**
 * Of what a job says: also in the ids of jobs that askers share, so that no job of another version lies where one of this is to.
 * Version 1 had no seals.
 */
export const jobVersion = 2;

/** What every job carries beside its question: a later release knows by `version` how to read it. */
export interface JobData<Q> {
  readonly version: typeof jobVersion;
  /** Milliseconds since 1970 after which nobody waits for the answer any more. */
  readonly deadline: number;
  /** The trace that the job belongs to (W3C Trace Context); jobs that belong to none have none. */
  readonly traceparent?: string | undefined;
  /** The channel for the end of the job; in a slower lane nobody waits for it. */
  readonly reply?: string;
  readonly question: Q;
  /** Of `JobSeals`. */
  readonly seal: string;
}

/**
 * A connection that waits for Redis for as long as it takes. BullMQ makes copies of it for what blocks, and does not end them
 * where Redis is out of reach; disposing ends the copies too.
 */
export function connectWorkerRedis({ url, log }: QueueOptions): RedisClient & AsyncDisposable {
  const redis = connectRedis(url, retryForever, log);
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

/** How long a command waits for something to happen before it is given anew: less than a patient connection waits for an answer. */
export const blockingSeconds = 3;

/** How long BullMQ may take to close: with Redis out of reach it would wait for ever (measured with BullMQ 6.7). */
export const closingMs = 2000;

/** Waits for `closing`, but no longer than `ms`. Where Redis is out of reach it may fail: then the connections are what is left to end. */
export async function within(ms: number, closing: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([closing.catch(() => {}), late]).finally(() => over.abort());
}
