import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generatedSecretFile, localAddress, localService, variableOf } from '@echodrop/client/local-system';
import { verifierSecret } from '@echodrop/contracts/secret-settings';
import { identityProviders } from '@echodrop/identity-provider/provider';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { httpAddress, httpOrigin, InvalidSettings, readSettings, secret, wholeNumber } from '@echodrop/service/env';
import type { TestUser } from './provider-test/test-user.ts';

const verifierSettings = { VERIFIER_URL: httpAddress(), ...verifierSecret };

/** The gateway's public addresses. The address of an upload must be below one of them, or on any host if none is set. */
const addressSettings = { PUBLIC_SITE_URL: httpOrigin().optional(), PUBLIC_UPLOAD_URL: httpAddress().optional() };

const sweepSettings = {
  /** The gateway's longest upload. The default is the maximum that the gateway accepts. */
  MAX_UPLOAD_SECONDS: wholeNumber({ default: 12 * 3600, min: 1, max: 12 * 3600 }),
};

const signingNames = [
  'PROVIDER_TEST_CONSUMER_KEY',
  'PROVIDER_TEST_CONSUMER_SECRET',
  'PROVIDER_TEST_TOKEN',
  'PROVIDER_TEST_TOKEN_SECRET',
] as const;

function providerTestSettings(hasSigning: boolean) {
  const signing = hasSigning ? secret() : secret().optional();
  return {
    /** A setting of the auth-verifier. */
    IDENTITY_PROVIDERS: identityProviders(''),
    PROVIDER_TIMEOUT_MS: wholeNumber({ default: 5000, min: 1, max: 60_000 }),
    /** Derives user.id from subjects that are not integers. */
    USER_ID_SECRET: secret({ minLength: 16 }).optional(),
    /** A user of a provider whose profile takes a bearer token. */
    PROVIDER_TEST_BEARER: secret().optional(),
    /** A user of a provider whose profile signs requests: all four or none. */
    PROVIDER_TEST_CONSUMER_KEY: signing,
    PROVIDER_TEST_CONSUMER_SECRET: signing,
    PROVIDER_TEST_TOKEN: signing,
    PROVIDER_TEST_TOKEN_SECRET: signing,
  };
}

// These functions throw InvalidSettings.
export const readVerifierConfig = readerOf(verifierSettings);
export const readSweepConfig = readerOf(sweepSettings);
export const readAddressConfig = readerOf(addressSettings);

const readStore = readerOf(storeSettings);

/** @throws InvalidSettings */
export function readStoreConfig(env: NodeJS.ProcessEnv) {
  const { OBJECT_STORE: kind, S3_ENDPOINT: endpoint, DATA_DIR: dataDir = 'data' } = withLocalDefaults(env);
  if (kind || endpoint) return readStore(env);
  const advice = 'Start the system first, or set DATA_DIR, or OBJECT_STORE and the S3_ variables';
  throw new InvalidSettings([`No object store in ${dataDir}. ${advice}.`]);
}

function readerOf<S extends Parameters<typeof readSettings>[0]>(settings: S) {
  return (env: NodeJS.ProcessEnv) => readSettings(settings, withLocalDefaults(env));
}

/** @throws InvalidSettings */
export function readProviderTestConfig(env: NodeJS.ProcessEnv) {
  const all = withLocalDefaults(env);
  const hasSigning = signingNames.some((name) => all[name] || all[`${name}_FILE`]);
  const settings = readSettings(providerTestSettings(hasSigning), all);
  const [consumerKey, consumerSecret, token, tokenSecret] = signingNames.map((name) => settings[name]);
  const user: TestUser = {
    ...(consumerKey &&
      consumerSecret &&
      token &&
      tokenSecret && { signing: { consumerKey, consumerSecret, token, tokenSecret } }),
    ...(settings.PROVIDER_TEST_BEARER && { bearer: settings.PROVIDER_TEST_BEARER }),
  };
  return { ...settings, user };
}

/**
 * Adds to `env` the settings of `npm start` with the same environment: `AUTH_VERIFIER_<NAME>` as `<NAME>`, the verifier's address, the public
 * addresses, the store's folder and the generated secrets. In a container only VERIFIER_URL gets a default, the same as the gateway's.
 */
function withLocalDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const prefix = variableOf('auth-verifier', '');
  const set = Object.entries(env).filter(([, value]) => value);
  const own = set
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value]);
  const settings: NodeJS.ProcessEnv = { ...Object.fromEntries(set), ...Object.fromEntries(own) };
  const { DATA_DIR: dataDir = 'data' } = settings;
  const secretFiles = ['VERIFIER_SECRET', 'USER_ID_SECRET']
    .filter((name) => !settings[name])
    .map((name) => [`${name}_FILE`, generatedSecretFile(dataDir, name)] as const)
    .filter(([, file]) => existsSync(file));
  const store = join(dataDir, 'store');
  const isLocal = !settings['OBJECT_STORE'] && existsSync(store);
  return {
    VERIFIER_URL: localAddress('auth-verifier', env),
    ...Object.fromEntries(secretFiles),
    ...(isLocal && {
      OBJECT_STORE: 'filesystem',
      OBJECT_STORE_DIR: store,
      PUBLIC_SITE_URL: localAddress('site', env),
      PUBLIC_UPLOAD_URL: localService(env),
    }),
    ...settings,
  };
}
