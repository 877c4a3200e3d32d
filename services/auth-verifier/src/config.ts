import { type Provider, providerOf } from '@echodrop/identity-provider/provider';
import {
  choice,
  commaSeparated,
  port,
  readSettings,
  rotatedSecret,
  type Settings,
  secret,
  wholeNumber,
} from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { cacheRedisSettings } from '@echodrop/service/redis';

// Below what the gateway waits for the verifier.
const maxProviderMs = 9000;

const settings = {
  ...processSettings(9082),
  ...cacheRedisSettings,
  PORT: port(8082),
  VERIFIER_SECRET: rotatedSecret({ minLength: 16 }),
  /** Comma-separated `[profile ]advertised[=upstream]`: the address a client signs for and, where it differs, the one really asked. */
  IDENTITY_PROVIDERS: commaSeparated()
    .transform((entries) => entries.map(providerOf))
    .refine(
      areProviders,
      'must be a list of [profile ]advertised[=upstream], each an http(s) address without user or fragment, none twice',
    )
    .transform((providers) => providers.filter((provider) => provider !== undefined)),
  VERDICT_TTL_SECONDS: wholeNumber({ default: 60, max: 3600 }),
  /** Which repeats of an Echo header are believed without asking again: anybody's, those from the same client address, nobody's. */
  VERDICT_REUSE: choice(['ttl', 'retry', 'off'], 'ttl'),
  PROVIDER_TIMEOUT_MS: wholeNumber({ default: 5000, min: 1, max: maxProviderMs }),
  CACHE_KEY_SECRET: rotatedSecret({ minLength: 16 }),
  /** Turns a subject that is no number into a user id; never rotated. */
  USER_ID_SECRET: secret({ minLength: 16 }),
};

function areProviders(providers: readonly (Provider | undefined)[]): boolean {
  const advertised = new Set(providers.map((provider) => provider?.advertised));
  return advertised.size > 0 && advertised.size === providers.length && !advertised.has(undefined);
}

export type VerifierConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): VerifierConfig {
  return readSettings(settings, env);
}
