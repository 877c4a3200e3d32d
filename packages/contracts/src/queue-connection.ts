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
