import { ownerHash } from '@echodrop/archive/owner';
import type { Caller } from '@echodrop/contracts/verification';
import type { RedisConnection } from '@echodrop/service/redis/redis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { Refusal } from '../response/refusal-error.ts';

const windowSeconds = 60;

interface PerMinute {
  /** Uploads a minute; 0: no limit. */
  readonly perUser: number;
  readonly perKey: number;
}

interface RateEvents {
  rateLimitBypassed(error: unknown): void;
  rateLimited(): void;
}

/** Uploads a minute, counted in Redis for all gateways. If Redis fails or is slow, uploads are admitted. */
export class UploadRates {
  readonly #users: RateLimiterRedis | undefined;
  readonly #keys: RateLimiterRedis | undefined;
  readonly #events: RateEvents;

  constructor(redis: RedisConnection, { perUser, perKey }: PerMinute, events: RateEvents) {
    const options = { storeClient: redis, rejectIfRedisNotReady: true, duration: windowSeconds };
    const limiter = (points: number, keyPrefix: string) =>
      points > 0 ? new RateLimiterRedis({ ...options, keyPrefix, points }) : undefined;
    this.#users = limiter(perUser, redis.names.nameOf('uploads-of-user'));
    this.#keys = limiter(perKey, redis.names.nameOf('uploads-of-key'));
    this.#events = events;
  }

  /** @throws Refusal `too_many_requests` */
  async countUser(user: Pick<Caller, 'provider' | 'subject'>): Promise<void> {
    await this.#count(this.#users, ownerHash(user), 'userRate');
  }

  /** @throws Refusal `too_many_requests` */
  async countKey(application: string): Promise<void> {
    await this.#count(this.#keys, application, 'keyRate');
  }

  async #count(limiter: RateLimiterRedis | undefined, name: string, message: 'userRate' | 'keyRate'): Promise<void> {
    if (!limiter) return;
    try {
      await limiter.consume(name);
      this.#events.rateLimited();
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) return this.#events.rateLimitBypassed(error);
      this.#events.rateLimited();
      const retryAfterSeconds = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new Refusal('too_many_requests', { message, values: { limit: limiter.points }, retryAfterSeconds });
    }
  }
}
