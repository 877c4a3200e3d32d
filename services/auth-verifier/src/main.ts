import { verificationRoute } from '@echodrop/contracts/verification';
import { verificationServer } from '@echodrop/contracts/verification-server';
import { awaitFirstAttempt, cacheRedis, checkRedis, connectRedis, failFast } from '@echodrop/service/redis/redis';
import { runService } from '@echodrop/service/run-service';
import { Forgeries } from '@echodrop/service/seals/forgeries';
import { cacheTimeoutMs, queryWaitMs, readConfig } from './config.ts';
import { createVerifierEvents } from './events.ts';
import { IdentityProviders } from './provider/query-providers.ts';
import { CacheKeys } from './verdicts/cache-keys.ts';
import { VerdictCache } from './verdicts/verdict-cache.ts';
import { VerdictCodec } from './verdicts/verdict-codec.ts';
import { Verifier } from './verify.ts';

// The verifier's own work beside the provider request takes less.
const leaseMarginMs = 500;

await runService('auth-verifier', readConfig, async ({ config, log, metrics, health, resources, serve }) => {
  const events = createVerifierEvents(log, metrics);
  const redis = resources.use(
    connectRedis(cacheRedis(config), { ...failFast, commandTimeout: cacheTimeoutMs }, log.child({ redis: 'cache' })),
  );
  health.addOptionalCheck('cache', () => checkRedis(redis));
  const { IDENTITY_PROVIDERS: providers, PROVIDER_TIMEOUT_MS: timeoutMs, USER_ID_SECRET: userIdSecret } = config;
  const waitMs = queryWaitMs(timeoutMs);
  const keys = new CacheKeys(config.CACHE_KEY_SECRET, redis.names);
  const codec = new VerdictCodec(config.CACHE_KEY_SECRET, new Forgeries(log, metrics));
  const cache = new VerdictCache({
    redis,
    keys,
    codec,
    verifiedSeconds: config.VERDICT_TTL_SECONDS,
    leaseMs: waitMs + timeoutMs + leaseMarginMs,
  });
  const identityProviders = resources.use(new IdentityProviders({ timeoutMs, waitMs, userIdSecret, events }));
  identityProviders.registerCircuitMetrics(metrics, providers);
  const verifier = resources.use(new Verifier({ providers, keys, cache, identityProviders, events }));
  const server = verificationServer({
    secret: config.VERIFIER_SECRET,
    providers: providers.map(({ advertised }) => advertised),
    verify: (request) => verifier.verify(request),
    forget: (user) => verifier.forget(user),
    log,
  });
  // Without the cache, this verifier would repeat the queries of other verifiers.
  await awaitFirstAttempt(redis);
  await serve(server, config.PORT, ({ url }) => verificationRoute(url));
});
