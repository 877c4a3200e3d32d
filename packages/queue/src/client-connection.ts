import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { readRedisAddress } from '@echodrop/service/redis/redis-address';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import { JobSeals } from './job-seals.ts';
import type { QueueOptions } from './queue-connection.ts';
import { Replies } from './replies.ts';

const longestFailoverMs = 15_000;
// Replies of a server that becomes master, or no longer is.
const failoverReplies = /^(READONLY|NOREPLICAS|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/;

/** Whether a command failed because of the connection or the server's role, and not because of the command. */
export function mayEndWithFailover(error: unknown): boolean {
  return !(error instanceof Error && error.name === 'ReplyError') || failoverReplies.test(error.message);
}

/** Shared by several queue clients: one connection for commands and replies, and the seals of their jobs. */
export class ClientConnection implements AsyncDisposable {
  readonly redis: RedisClient & AsyncDisposable;
  readonly replies: Replies;
  readonly seals: JobSeals;
  /** How long a job that Redis refuses is worth another try. A failover takes about a second if a master stops in order, and eight if it dies. */
  readonly failoverMs: number;

  constructor({ url, log, ...sealing }: QueueOptions) {
    // `Replies` resubscribes. ioredis 6 would leave a rejection unhandled if the connection closed meanwhile, which ends the process.
    this.redis = connectRedis(url, { ...failFast, autoResubscribe: false }, log.child({ redis: 'queue' }));
    this.replies = new Replies(this.redis);
    this.seals = new JobSeals(sealing);
    this.failoverMs = readRedisAddress(url.reveal()).kind === 'server' ? 0 : longestFailoverMs;
  }

  /** @throws Error if Redis is out of reach */
  requireReady(): void {
    if (this.redis.status !== 'ready') throw new Error('Redis unreachable');
  }

  /** Dispose of its queue clients first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.redis[Symbol.asyncDispose]();
  }
}
