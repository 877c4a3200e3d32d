import { verifierSecret } from '@echodrop/contracts/secret-settings';
import { identityProviders } from '@echodrop/identity-provider/provider';
import { defaultOpsPorts, defaultPorts } from '@echodrop/service/default-ports';
import { port, readSettings, rotatedSecret, secret, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { cacheRedisSettings } from '@echodrop/service/redis/redis';

/** How long a command to the cache may take. After that, a query to the provider is usually faster. */
export const cacheTimeoutMs = 500;
// Wait and query (7.9 s), and four commands to a hanging cache (0.5 s each), stay below the 10 s that the gateway waits.
const maxWaitAndQueryMs = 7900;
// Leaves 0.9 s to wait for a turn.
const maxProviderMs = 7000;

/** How long a query waits for its turn, if the query itself may take `timeoutMs`. */
export function queryWaitMs(timeoutMs: number): number {
  return Math.min(timeoutMs, maxWaitAndQueryMs - timeoutMs);
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
