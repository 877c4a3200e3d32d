import { identityProviders } from '@echodrop/identity-provider/provider';
import { choice, port, readSettings, rotatedSecret, secret, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { cacheRedisSettings } from '@echodrop/service/redis/redis';

// With four requests to a hanging cache, this stays below the ten seconds that the gateway waits.
const maxProviderMs = 7000;

const settings = {
  ...processSettings(9082),
  ...cacheRedisSettings,
  PORT: port(8082),
  VERIFIER_SECRET: rotatedSecret({ minLength: 16 }),
  /** Comma-separated `[profile ]advertised[=upstream]`: the address that clients sign for and, if different, the one to query. */
  IDENTITY_PROVIDERS: identityProviders().refine((providers) => providers.length > 0, 'must not be empty'),
  VERDICT_TTL_SECONDS: wholeNumber({ default: 60, max: 3600 }),
  /** Which repeats of a signed header use the cached verdict: all, those from the same client address, none. */
  VERDICT_REUSE: choice(['ttl', 'retry', 'off'], 'ttl'),
  PROVIDER_TIMEOUT_MS: wholeNumber({ default: 5000, min: 1, max: maxProviderMs }),
  CACHE_KEY_SECRET: rotatedSecret({ minLength: 16 }),
  /** Derives user ids from subjects that are not numbers. Must not be rotated. */
  USER_ID_SECRET: secret({ minLength: 16 }),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
