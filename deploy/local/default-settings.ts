import { join } from 'node:path';
import {
  generatedSecretFile,
  hasSandbox,
  localAddress,
  localService,
  sandboxApiKey,
  variableOf,
} from '@echodrop/client/local-system';
import { identityProvidersAt, signInProvidersAt } from '../../services/sandbox-provider/src/profiles.ts';
import { type ServiceName, serviceNames } from './services.ts';

/** Secrets that are generated once and kept in DATA_DIR unless they are set. */
export const generatedSecrets = [
  'VERIFIER_SECRET',
  'CACHE_KEY_SECRET',
  'PROBE_QUEUE_SECRET',
  'RENDITION_QUEUE_SECRET',
  'USER_ID_SECRET',
] as const;

const portNames = ['PORT', 'OPS_PORT'];

/**
 * The part of `env` for one service (docs/reference/settings.md, "npm start"): its `<SERVICE>_<NAME>` as `<NAME>`, and variables without a service's
 * prefix, but PORT and OPS_PORT for the gateway only. Empty variables count as unset.
 */
export function environmentOf(service: ServiceName, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const shared: NodeJS.ProcessEnv = {};
  const own: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(env)) {
    if (!value) continue;
    const owner = serviceNames.find((candidate) => name.startsWith(variableOf(candidate, '')));
    if (owner === service) own[name.slice(variableOf(service, '').length)] = value;
    else if (owner === undefined && !(portNames.includes(name) && service !== 'gateway')) shared[name] = value;
  }
  return { ...shared, ...own };
}

/** The variable that sets a service's setting in this environment: `<SERVICE>_<NAME>` if it is set or `<NAME>` does not apply, else `<NAME>`. */
export function settingName(service: ServiceName, name: string, env: NodeJS.ProcessEnv): string {
  const own = variableOf(service, name);
  const isBareElsewhere = portNames.includes(name) && !(service === 'gateway' && env[name]);
  return env[own] || isBareElsewhere ? own : name;
}

/**
 * The services that run, each with its environment. `dataDir` is an absolute path. `publicSandbox`: the origin where clients find the sandbox, if
 * a proxy is before it.
 */
export function localEnvironments(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  publicSandbox = sandboxAddress(env),
): Map<ServiceName, NodeJS.ProcessEnv> {
  const defaults = defaultSettings(env, dataDir, publicSandbox);
  const running = serviceNames.filter((service) => service !== 'sandbox-provider' || hasSandbox(env));
  return new Map(
    running.map((service) => {
      const own = environmentOf(service, env);
      const missing = Object.entries(defaults).filter(([name]) => !isSet(name.replace(/_FILE$/, ''), own));
      return [service, { ...own, ...Object.fromEntries(missing) }];
    }),
  );
}

function defaultSettings(env: NodeJS.ProcessEnv, dataDir: string, publicSandbox: string): Record<string, string> {
  return {
    REDIS_URL_FILE: generatedSecretFile(dataDir, 'REDIS_URL'),
    OBJECT_STORE: 'filesystem',
    OBJECT_STORE_DIR: join(dataDir, 'store'),
    // In a folder that others can write to, another user could take over that of a suspended worker.
    SCRATCH_DIR: join(dataDir, 'scratch'),
    PUBLIC_SITE_URL: validAddress(env, (from) => localAddress('site', from)),
    VERIFIER_URL: validAddress(env, (from) => localAddress('auth-verifier', from)),
    IDENTITY_PROVIDERS: identityProvidersAt(publicSandbox, sandboxAddress(env)).join(),
    ...(hasSandbox(env) && { WEB_SIGN_IN: JSON.stringify(signInProvidersAt(publicSandbox)) }),
    // Where operators have keys of their own, no key that everyone knows is added.
    ...(!isSet('API_KEYS', environmentOf('gateway', env)) && { WEB_UPLOAD_API_KEY: 'sandbox-web-key' }),
    API_KEYS: sandboxApiKey,
    WEB_UPLOAD: '1',
    UPLOAD_URL: validAddress(env, localService),
    CORS_ORIGINS: siteOrigins(env).join(),
    ...Object.fromEntries(generatedSecrets.map((name) => [`${name}_FILE`, generatedSecretFile(dataDir, name)])),
  };
}

function sandboxAddress(env: NodeJS.ProcessEnv): string {
  return validAddress(env, (from) => localAddress('sandbox-provider', from));
}

// Users of this machine may also open the site as localhost.
function siteOrigins(env: NodeJS.ProcessEnv): string[] {
  const local = validAddress(env, (from) => localAddress('site', from));
  const configured = environmentOf('site', env)['PUBLIC_SITE_URL'];
  const { origin } = new URL(configured && URL.canParse(configured) ? configured : local);
  return [...new Set([origin, origin.replace('//127.0.0.1', '//localhost')])];
}

// Only the service itself reports an invalid port, not every service that derives an address from it.
function validAddress(env: NodeJS.ProcessEnv, address: (env: NodeJS.ProcessEnv) => string): string {
  return URL.canParse(address(env)) ? address(env) : address({});
}

function isSet(name: string, env: NodeJS.ProcessEnv): boolean {
  if (name === 'REDIS_URL' && isSet('QUEUE_REDIS_URL', env) && isSet('CACHE_REDIS_URL', env)) return true;
  return Boolean(env[name] || env[`${name}_FILE`]);
}
