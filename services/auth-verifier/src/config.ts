import { verifierSecret } from '@echodrop/contracts/secret-settings';
import { identityProviders } from '@echodrop/identity-provider/provider';
import { defaultOpsPorts, defaultPorts } from '@echodrop/service/default-ports';
import { port, readSettings, rotatedSecret, secret, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { cacheRedisSettings } from '@echodrop/service/redis/redis';

/** The longest time of a command to the cache. Waiting longer for the cache would cost more than a query. */
export const cacheTimeoutMs = 500;
// 7.9 s, plus four commands to a hanging cache (0.5 s each), are below the ten seconds that the gateway waits.
const maxQueryMs = 7900;
const maxProviderMs = 7000;

/** How long a query may wait for its turn, if it may take `timeoutMs`. */
export function queryWaitMs(timeoutMs: number): number {
  return Math.min(timeoutMs, maxQueryMs - timeoutMs);
}

export const settings = {
  ...processSettings(defaultOpsPorts['auth-verifier']),
  ...cacheRedisSettings,
  ...verifierSecret,
  PORT: port(defaultPorts['auth-verifier']),
  IDENTITY_PROVIDERS: identityProviders()
    .refine((providers) => providers.length > 0, 'must not be empty')
    .describe(
      'comma-separated [entries](identity-providers.md#identity_providers) `[profile ]advertised[=upstream]` (`npm start`: the sandbox)',
    ),
  VERDICT_TTL_SECONDS: wholeNumber({ default: 60, max: 3600 }).describe('how long a verified caller is cached'),
  PROVIDER_TIMEOUT_MS: wholeNumber({ default: 5000, min: 1, max: maxProviderMs }).describe(
    'limit of one request to a provider',
  ),
  CACHE_KEY_SECRET: rotatedSecret({ minLength: 16 }).describe('hashes and seals cache entries'),
  USER_ID_SECRET: secret({ minLength: 16 }).describe(
    'derives integer ids for users whose subject is not an integer. Never change it',
  ),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
