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
import { Claims } from './verdicts/claims.ts';
import { KeptVerdicts } from './verdicts/kept-verdict.ts';
import { VerdictCache } from './verdicts/verdict-cache.ts';
import { Verifier } from './verify.ts';

const refusedSeconds = 10;
// A cache that is slower than this is no help.
const cacheTimeoutMs = 500;
// For what a verifier does besides when it asks a provider.
const leaseMarginMs = 500;

await runService('auth-verifier', readConfig, async ({ config, log, metrics, parts, stopping }) => {
  const known = new KnownProviders(config.IDENTITY_PROVIDERS);
  const events = createVerifierEvents(log, metrics);
  const redis = parts.use(connectRedis(cacheRedisUrl(config), { ...failFast, commandTimeout: cacheTimeoutMs }, log));
  const keys = new CacheKeys(config.CACHE_KEY_SECRET);
  const kept = new KeptVerdicts(config.CACHE_KEY_SECRET, new Forgeries(log, metrics));
  const cache = new VerdictCache(redis, keys, kept, config.VERDICT_REUSE, {
    verifiedSeconds: config.VERDICT_TTL_SECONDS,
    refusedSeconds,
    leaseMs: config.PROVIDER_TIMEOUT_MS + leaseMarginMs,
  });
  const providers = parts.use(
    new IdentityProviders({
      timeoutMs: config.PROVIDER_TIMEOUT_MS,
      userIdSecret: config.USER_ID_SECRET,
      told: events,
    }),
  );
  registerCircuitMetrics(metrics, known, providers);
  const claims = new Claims(keys, config.VERDICT_REUSE);
  const verifier = parts.use(new Verifier({ known, claims, cache, providers, events }));
  const server = verificationServer({
    secret: config.VERIFIER_SECRET,
    providers: known.advertised,
    verify: (question) => verifier.verify(question),
    forget: (user) => verifier.forget(user),
    log,
  });
  registerHttpMetrics(metrics, server, ({ url }) => verificationRoute(url));
  const { HOST: host, PORT: port, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
  parts.use(await listen(server, { host, port, stopping, graceSeconds }));
  log.info({ host, port }, 'Listening');
});
