import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import { JobSeals } from './job-seals.ts';
import type { QueueOptions } from './queue-connection.ts';
import { Replies } from './replies.ts';

/** What the asking ends of several queues share: one connection for their commands and for the replies to them, and the seals of their jobs. */
export class ClientConnection implements AsyncDisposable {
  readonly redis: RedisClient & AsyncDisposable;
  readonly replies: Replies;
  readonly seals: JobSeals;

  constructor({ url, log, ...sealing }: QueueOptions) {
    // Replies subscribe anew by themselves. ioredis 6 leaves a rejection unhandled, which ends the process, if the connection closes meanwhile.
    this.redis = connectRedis(url, { ...failFast, autoResubscribe: false }, log);
    this.replies = new Replies(this.redis);
    this.seals = new JobSeals(sealing);
  }

  /** @throws Error where Redis is out of reach now */
  requireReady(): void {
    if (this.redis.status !== 'ready') throw new Error('Redis unreachable');
  }

  /** After the queues that use it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.redis[Symbol.asyncDispose]();
  }
}
