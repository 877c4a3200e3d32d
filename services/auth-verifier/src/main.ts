import { verificationRoute } from '@echodrop/contracts/verification';
import { verificationServer } from '@echodrop/contracts/verification-server';
import { Forgeries } from '@echodrop/service/forgeries';
import { listen } from '@echodrop/service/http-server';
import { registerHttpMetrics } from '@echodrop/service/metrics/http-metrics';
import { cacheRedisUrl, connectRedis, failFast } from '@echodrop/service/redis/redis';
import { runService } from '@echodrop/service/run-service';
import { registerCircuitMetrics } from './circuit-metrics.ts';
import { readConfig } from './config.ts';
import { createVerifierEvents } from './events.ts';
import { IdentityProviders } from './provider/identity-provider.ts';
import { KnownProviders } from './provider/known-providers.ts';
import { CacheKeys } from './verdicts/cache-keys.ts';
import { ProofKeyring } from './verdicts/proof-keys.ts';
import { VerdictCache } from './verdicts/verdict-cache.ts';
import { VerdictCodec } from './verdicts/verdict-codec.ts';
import { Verifier } from './verify.ts';

const refusedSeconds = 10;
// A slower cache is no help.
const cacheTimeoutMs = 500;
// For the work besides the provider request.
const leaseMarginMs = 500;

await runService('auth-verifier', readConfig, async ({ config, log, metrics, parts, stopping }) => {
  const known = new KnownProviders(config.IDENTITY_PROVIDERS);
  const events = createVerifierEvents(log, metrics);
  const redis = parts.use(connectRedis(cacheRedisUrl(config), { ...failFast, commandTimeout: cacheTimeoutMs }, log));
  const keys = new CacheKeys(config.CACHE_KEY_SECRET);
  const kept = new VerdictCodec(config.CACHE_KEY_SECRET, new Forgeries(log, metrics));
  const cache = new VerdictCache(redis, keys, kept, config.VERDICT_REUSE, {
    verifiedSeconds: config.VERDICT_TTL_SECONDS,
    refusedSeconds,
    leaseMs: config.PROVIDER_TIMEOUT_MS + leaseMarginMs,
  });
  const providers = parts.use(
    new IdentityProviders({
      timeoutMs: config.PROVIDER_TIMEOUT_MS,
      userIdSecret: config.USER_ID_SECRET,
      events,
    }),
  );
  registerCircuitMetrics(metrics, known, providers);
  const claims = new ProofKeyring(keys, config.VERDICT_REUSE);
  const verifier = parts.use(new Verifier({ known, claims, cache, providers, events }));
  const server = verificationServer({
    secret: config.VERIFIER_SECRET,
    providers: known.advertised,
    verify: (request) => verifier.verify(request),
    forget: (user) => verifier.forget(user),
    log,
  });
  registerHttpMetrics(metrics, server, ({ url }) => verificationRoute(url));
  const { HOST: host, PORT: port, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
  parts.use(await listen(server, { host, port, stopping, graceSeconds }));
  log.info({ host, port }, 'Listening');
});
