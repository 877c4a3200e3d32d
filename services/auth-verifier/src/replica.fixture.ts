import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials, VerificationRequest } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { type StandInProvider, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import type { RotatedSecret } from '@echodrop/service/env';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { redisAt } from '@echodrop/service/redis/redis-at.fixture';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import { Forgeries } from '@echodrop/service/seals/forgeries';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createVerifierEvents } from './events.ts';
import { IdentityProviders } from './provider/query-providers.ts';
import { CacheKeys } from './verdicts/cache-keys.ts';
import { VerdictCache } from './verdicts/verdict-cache.ts';
import { VerdictCodec } from './verdicts/verdict-codec.ts';
import { Verifier } from './verify.ts';

interface ReplicaSettings {
  readonly redisUrl: string;
  readonly providers: readonly Provider[];
  readonly verifiedSeconds?: number;
  readonly keySecret?: RotatedSecret;
  /** Short only if the provider or the cache never responds. */
  readonly timeoutMs?: number;
  readonly cacheTimeoutMs?: number;
  /** Extra delay of each look into the cache. */
  readonly slowMs?: number;
}

/** One of several verifiers, which share only the cache. */
export class Replica implements AsyncDisposable {
  readonly verifier: Verifier;
  readonly metrics = new Metrics('auth-verifier');
  readonly redis;
  /** Number of looks into the cache that it has completed. */
  looks = 0;
  readonly #resources = new AsyncDisposableStack();

  constructor(settings: ReplicaSettings) {
    const { redisUrl, providers, verifiedSeconds = 60, timeoutMs = patienceMs, cacheTimeoutMs = patienceMs } = settings;
    const log = createLog('auth-verifier', 'silent');
    const patient = { ...failFast, connectTimeout: patienceMs, socketTimeout: patienceMs };
    this.redis = this.#resources.use(
      connectRedis(redisAt(redisUrl), { ...patient, commandTimeout: cacheTimeoutMs }, log),
    );
    // A cluster's first connection and response, which otherwise have a second.
    Object.assign(this.redis.options, { slotsRefreshTimeout: patienceMs });
    const secret = settings.keySecret ?? [new Secret('a secret of this test')];
    const keys = new CacheKeys(secret, this.redis.names);
    const codec = new VerdictCodec(secret, new Forgeries(log, this.metrics));
    const events = createVerifierEvents(log, this.metrics);
    const identityProviders = this.#resources.use(
      new IdentityProviders({
        timeoutMs,
        waitMs: 0,
        userIdSecret: new Secret('a secret of this test'),
        events,
      }),
    );
    identityProviders.registerCircuitMetrics(this.metrics, providers);
    const redis = this.#observed(settings.slowMs);
    const cache = new VerdictCache({ redis, keys, codec, verifiedSeconds, leaseMs: timeoutMs + 500 });
    this.verifier = this.#resources.use(new Verifier({ providers, keys, cache, identityProviders, events }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  #observed(slowMs: ReplicaSettings['slowMs']): RedisClient {
    return new Proxy<RedisClient>(this.redis, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (property !== 'echodropLookUp') return value.bind(target);
        return async (...args: unknown[]) => {
          if (slowMs) await sleep(slowMs);
          const reply = await value.apply(target, args);
          this.looks += 1;
          return reply;
        };
      },
    });
  }
}

/** A request of version 2 with a signed header for `provider`. */
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

interface ReplicaTests {
  readonly redis: RunningRedis;
  /** The provider of a test. */
  readonly standIn: StandInProvider;
  /** What ends with a test. */
  readonly parts: AsyncDisposableStack;
  /** A verifier that ends with its test, once it has reached the cache. */
  readonly replica: (settings?: Partial<ReplicaSettings>) => Promise<Replica>;
}

/** For the tests of a file: one Redis; for each test, an empty cache, a provider and verifiers. */
export function replicaTests(): ReplicaTests {
  const its: { -readonly [Name in keyof ReplicaTests]: ReplicaTests[Name] } = {
    redis: undefined as never,
    standIn: undefined as never,
    parts: new AsyncDisposableStack(),
    async replica(settings) {
      const one = its.parts.use(
        new Replica({ redisUrl: its.redis.url, providers: [its.standIn.provider], ...settings }),
      );
      await waitUntil('the cache connection', async () => one.redis.status === 'ready');
      return one;
    },
  };
  beforeAll(async () => {
    its.redis = await startRedis();
  });
  beforeEach(async () => {
    its.parts = new AsyncDisposableStack();
    its.standIn = its.parts.use(await startStandIn());
    await its.redis.command('flushall');
  });
  afterEach(() => its.parts.disposeAsync());
  afterAll(() => its.redis[Symbol.asyncDispose]());
  return its;
}
