import { identityProviders } from '@echodrop/identity-provider/provider-setting';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import {
  httpAddress,
  InvalidSettings,
  readSettings,
  rotatedSecret,
  type Settings,
  secret,
  wholeNumber,
} from '@echodrop/service/env';
import { besideLocalSystem } from './beside-local-system.ts';
import type { TestUser } from './provider-doctor/test-user.ts';

const forgetSettings = {
  VERIFIER_URL: httpAddress(),
  VERIFIER_SECRET: rotatedSecret({ minLength: 16 }),
};

const sweepSettings = {
  /** The gateway's; where it is not told, the most that it may be. */
  MAX_UPLOAD_SECONDS: wholeNumber({ default: 12 * 3600, min: 1, max: 12 * 3600 }),
};

const providerTestSettings = {
  /** The auth-verifier's. */
  IDENTITY_PROVIDERS: identityProviders(''),
  PROVIDER_TIMEOUT_MS: wholeNumber({ default: 5000, min: 1, max: 60_000 }),
  /** Tells which user id records show for a subject that is no number. */
  USER_ID_SECRET: secret({ minLength: 16 }).optional(),
  /** A user of the provider: the first four where its profile signs requests, the last where it takes a token. */
  PROVIDER_TEST_CONSUMER_KEY: secret().optional(),
  PROVIDER_TEST_CONSUMER_SECRET: secret().optional(),
  PROVIDER_TEST_TOKEN: secret().optional(),
  PROVIDER_TEST_TOKEN_SECRET: secret().optional(),
  PROVIDER_TEST_BEARER: secret().optional(),
};

type ProviderTestSettings = Settings<typeof providerTestSettings>;

const signingNames = [
  'PROVIDER_TEST_CONSUMER_KEY',
  'PROVIDER_TEST_CONSUMER_SECRET',
  'PROVIDER_TEST_TOKEN',
  'PROVIDER_TEST_TOKEN_SECRET',
] as const;

/** What `forget` goes by. @throws InvalidSettings */
export function readForgetConfig(env: NodeJS.ProcessEnv) {
  return readSettings(forgetSettings, besideLocalSystem(env));
}

/** Where what is published lies. @throws InvalidSettings */
export function readStoreConfig(env: NodeJS.ProcessEnv) {
  return readSettings(storeSettings, besideLocalSystem(env));
}

/** How long an upload may take, in seconds. @throws InvalidSettings */
export function readSweepConfig(env: NodeJS.ProcessEnv) {
  return readSettings(sweepSettings, besideLocalSystem(env));
}

/** What `provider-test` goes by. @throws InvalidSettings */
export function readProviderTestConfig(env: NodeJS.ProcessEnv) {
  const halves = missingOfFour(env);
  const settings = readWithFaults(halves, env);
  if (halves.length > 0) throw new InvalidSettings(halves);
  return { ...settings, user: testUser(settings) };
}

function readWithFaults(others: readonly string[], env: NodeJS.ProcessEnv): ProviderTestSettings {
  try {
    return readSettings(providerTestSettings, besideLocalSystem(env));
  } catch (error) {
    throw error instanceof InvalidSettings ? new InvalidSettings([...error.faults, ...others]) : error;
  }
}

function missingOfFour(env: NodeJS.ProcessEnv): string[] {
  const missing = signingNames.filter((name) => !env[name] && !env[`${name}_FILE`]);
  if (missing.length === signingNames.length) return [];
  return missing.map((name) => `${name} is required where others of the four are given`);
}

function testUser(settings: ProviderTestSettings): TestUser {
  const [consumerKey, consumerSecret, token, tokenSecret] = signingNames.map((name) => settings[name]);
  const signing = consumerKey && consumerSecret && token && tokenSecret;
  return {
    ...(signing && { signing: { consumerKey, consumerSecret, token, tokenSecret } }),
    ...(settings.PROVIDER_TEST_BEARER && { bearer: settings.PROVIDER_TEST_BEARER }),
  };
}
