import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials, Question } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { RotatedSecret } from '@echodrop/service/env';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics';
import { connectRedis, impatient } from '@echodrop/service/redis';
import { Secret } from '@echodrop/service/secret';
import type { Redis } from 'ioredis';
import { CacheKeys } from './cache-keys.ts';
import { VerifierEvents } from './events.ts';
import { IdentityProviders } from './identity-provider.ts';
import { KnownProviders } from './known-providers.ts';
import { ProofUses, type Reuse } from './proof-uses.ts';
import { tellLeftAlone } from './tell-left-alone.ts';
import { VerdictCache } from './verdict-cache.ts';
import { Verifier } from './verify.ts';

interface ReplicaSettings {
  readonly redisUrl: string;
  readonly providers: readonly Provider[];
  readonly verifiedSeconds?: number;
  readonly keySecret?: RotatedSecret;
  readonly reuse?: Reuse;
  readonly timeoutMs?: number;
  readonly cacheTimeoutMs?: number;
  /** How long its reads of a name in the cache take more. */
  readonly slowMs?: (name: string) => number;
}

/** One verifier of several: it shares nothing with the others but the cache. */
export class Replica implements AsyncDisposable {
  readonly verifier: Verifier;
  readonly metrics = new Metrics('auth-verifier');
  readonly redis;
  readonly #parts = new AsyncDisposableStack();

  constructor(settings: ReplicaSettings) {
    const {
      redisUrl,
      providers,
      verifiedSeconds = 60,
      reuse = 'ttl',
      timeoutMs = 1000,
      cacheTimeoutMs = 500,
    } = settings;
    const log = createLog('auth-verifier', 'silent');
    this.redis = this.#parts.use(
      connectRedis(new Secret(redisUrl), { ...impatient, commandTimeout: cacheTimeoutMs }, log),
    );
    const redis = settings.slowMs ? slowed(this.redis, settings.slowMs) : this.redis;
    const keys = new CacheKeys(settings.keySecret ?? [new Secret('a secret of this test')]);
    const known = new KnownProviders(providers);
    const events = new VerifierEvents(log, this.metrics);
    const asker = this.#parts.use(
      new IdentityProviders({ timeoutMs, userIdSecret: new Secret('a secret of this test'), told: events }),
    );
    tellLeftAlone(this.metrics, known, asker);
    this.verifier = new Verifier({
      known,
      uses: new ProofUses(redis, keys, reuse),
      cache: new VerdictCache(redis, keys, { verifiedSeconds, refusedSeconds: 10, leaseMs: timeoutMs + 500 }),
      providers: asker,
      events,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

function slowed(
  redis: Pick<Redis, 'get' | 'set' | 'del' | 'incr'>,
  slowMs: (name: string) => number,
): Pick<Redis, 'get' | 'set' | 'del' | 'incr'> {
  return {
    get: async (name: string) => {
      await sleep(slowMs(name));
      return redis.get(name);
    },
    set: redis.set.bind(redis),
    del: redis.del.bind(redis),
    incr: redis.incr.bind(redis),
  } as Pick<Redis, 'get' | 'set' | 'del' | 'incr'>;
}

/** Version 2's question: an Echo header for `provider`. */
export function echo(provider: Provider, authorization: string, clientAddress = '192.0.2.1'): Question {
  return { credentials: { version: 2, provider: provider.advertised, authorization }, clientAddress };
}

export const fourSecrets = {
  version: 1,
  consumerToken: 'ck &=+ü',
  consumerSecret: "c's(!*)",
  oauthToken: '12345-t%2B',
  oauthSecret: 't s&',
} as const satisfies Credentials;
