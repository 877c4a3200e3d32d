import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials, VerificationRequest } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { RotatedSecret } from '@echodrop/service/env';
import { Forgeries } from '@echodrop/service/forgeries';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import { Secret } from '@echodrop/service/secret';
import { registerCircuitMetrics } from './circuit-metrics.ts';
import { createVerifierEvents } from './events.ts';
import { IdentityProviders } from './provider/identity-provider.ts';
import { KnownProviders } from './provider/known-providers.ts';
import { CacheKeys } from './verdicts/cache-keys.ts';
import { lookUp } from './verdicts/cache-scripts.ts';
import { Claims, type Reuse } from './verdicts/claims.ts';
import { KeptVerdicts } from './verdicts/kept-verdict.ts';
import { VerdictCache } from './verdicts/verdict-cache.ts';
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
      connectRedis(new Secret(redisUrl), { ...failFast, commandTimeout: cacheTimeoutMs }, log),
    );
    const secret = settings.keySecret ?? [new Secret('a secret of this test')];
    const keys = new CacheKeys(secret);
    const kept = new KeptVerdicts(secret, new Forgeries(log, this.metrics));
    const known = new KnownProviders(providers);
    const events = createVerifierEvents(log, this.metrics);
    const asker = this.#parts.use(
      new IdentityProviders({ timeoutMs, userIdSecret: new Secret('a secret of this test'), told: events }),
    );
    registerCircuitMetrics(this.metrics, known, asker);
    const times = { verifiedSeconds, refusedSeconds: 10, leaseMs: timeoutMs + 500 };
    const redis = settings.slowMs ? slowed(this.redis, settings.slowMs) : this.redis;
    const cache = new VerdictCache(redis, keys, kept, reuse, times);
    const claims = new Claims(keys, reuse);
    this.verifier = this.#parts.use(new Verifier({ known, claims, cache, providers: asker, events }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

function slowed(redis: RedisClient, slowMs: (name: string) => number): RedisClient {
  return new Proxy(redis, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      if (!String(property).startsWith(lookUp.name)) return value.bind(target);
      return async (...args: unknown[]) => {
        await sleep(Math.max(...args.map((each) => slowMs(String(each)))));
        return value.apply(target, args);
      };
    },
  });
}

/** Version 2's question: an Echo header for `provider`. */
export function echo(provider: Provider, authorization: string, clientAddress = '192.0.2.1'): VerificationRequest {
  return { credentials: { version: 2, provider: provider.advertised, authorization }, clientAddress };
}

export const fourSecrets = {
  version: 1,
  consumerToken: 'ck &=+ü',
  consumerSecret: "c's(!*)",
  oauthToken: '12345-t%2B',
  oauthSecret: 't s&',
} as const satisfies Credentials;
