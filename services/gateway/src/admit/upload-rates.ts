import { hash } from 'node:crypto';
import type { Caller } from '@echodrop/contracts/verification';
import type { connectRedis } from '@echodrop/service/redis/redis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { Refusal } from '../answer/refusals.ts';

const windowSeconds = 60;

interface PerMinute {
  /** Uploads a minute; 0: no limit. */
  readonly perUser: number;
  readonly perKey: number;
}

/**
 * How many uploads a user and an API key began within a minute, counted in Redis for all gateways together. The minute begins with
 * the first upload. Where Redis is down or slow nobody is limited, and `open` is told why.
 */
export class UploadRates {
  readonly #ofUsers: RateLimiterRedis | undefined;
  readonly #ofKeys: RateLimiterRedis | undefined;
  readonly #open: (error: unknown) => void;

  constructor(redis: ReturnType<typeof connectRedis>, { perUser, perKey }: PerMinute, open: (error: unknown) => void) {
    const limiter = (points: number, keyPrefix: string) =>
      points === 0
        ? undefined
        : new RateLimiterRedis({
            storeClient: redis,
            rejectIfRedisNotReady: true,
            keyPrefix,
            points,
            duration: windowSeconds,
          });
    this.#ofUsers = limiter(perUser, 'echodrop:uploads-of-user');
    this.#ofKeys = limiter(perKey, 'echodrop:uploads-of-key');
    this.#open = open;
  }

  /** Counts an upload of a user, who is known by provider and subject. @throws Refusal `too_many_requests` */
  async countUser({ provider, subject }: Pick<Caller, 'provider' | 'subject'>): Promise<void> {
    if (this.#ofUsers) await this.#count(this.#ofUsers, hash('sha256', JSON.stringify([provider, subject])));
  }

  /** Counts an upload of an application, as its API key is called. @throws Refusal `too_many_requests` */
  async countKey(application: string): Promise<void> {
    if (this.#ofKeys) await this.#count(this.#ofKeys, application);
  }

  async #count(limiter: RateLimiterRedis, name: string): Promise<void> {
    try {
      await limiter.consume(name);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) return this.#open(error);
      throw new Refusal('too_many_requests', { retryAfterSeconds: Math.max(1, Math.ceil(error.msBeforeNext / 1000)) });
    }
  }
}
