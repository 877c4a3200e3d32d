import { failoverMsOf } from '@echodrop/service/redis/failover';
import { connectRedis, failFast, type RedisConnection } from '@echodrop/service/redis/redis';
import { JobSeals } from './job-seals.ts';
import { defaultLimits, type QueueLimits, type QueueOptions } from './queue-connection.ts';
import { Replies } from './replies.ts';

/** Shared by several queue clients: one connection for commands and replies, and the seals of their jobs. */
export class ClientConnection implements AsyncDisposable {
  readonly redis: RedisConnection;
  readonly replies: Replies;
  readonly seals: JobSeals;
  /** How long a job that Redis refuses is repeated, in milliseconds. */
  readonly failoverMs: number;
  readonly limits: QueueLimits;

  constructor({ redis, log, limits = defaultLimits, ...sealing }: QueueOptions) {
    this.limits = limits;
    // `Replies` resubscribes. ioredis 6 would leave a rejection unhandled if the connection closed meanwhile, which ends the process.
    const options = { ...failFast, ...limits.redis, autoResubscribe: false };
    this.redis = connectRedis(redis, options, log.child({ redis: 'queue' }));
    this.replies = new Replies(this.redis);
    this.seals = new JobSeals(sealing);
    this.failoverMs = failoverMsOf(redis.url);
  }

  /** Dispose of its queue clients first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.redis[Symbol.asyncDispose]();
  }
}
