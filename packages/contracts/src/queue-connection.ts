import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@echodrop/service/log';
import type { Secret } from '@echodrop/service/secret';

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

/** How long BullMQ may take to close: with Redis out of reach it would wait for ever (measured with BullMQ 6.7). */
export const closingMs = 2000;

/** Waits for `closing`, but no longer than `ms`. */
export async function within(ms: number, closing: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([closing, late]).finally(() => over.abort());
}
