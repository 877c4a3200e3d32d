import { join } from 'node:path';
import {
  generatedSecretFile,
  hasSandbox,
  localAddress,
  localCredentials,
  localService,
  sandboxApiKey,
  sandboxProvider,
  variableOf,
} from '@echodrop/client/local-system';
import { identityProvidersAt } from '../../tools/sandbox-provider/src/profiles/profiles.ts';
import { type ServiceName, serviceNames } from './services.ts';

/** The secrets that are made once and kept in DATA_DIR when they are not given. */
export const ownSecrets = [
  'VERIFIER_SECRET',
  'CACHE_KEY_SECRET',
  'PROBE_QUEUE_SECRET',
  'RENDITION_QUEUE_SECRET',
  'USER_ID_SECRET',
] as const;

/**
 * What of `env` reaches one service (docs/settings.md, "npm start"): `<SERVICE>_<NAME>` as `<NAME>` and none of
 * another's, a bare PORT or OPS_PORT where it is the gateway, and all else. Empty variables count as absent.
 */
export function environmentOf(service: ServiceName, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const shared: NodeJS.ProcessEnv = {};
  const own: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(env)) {
    if (!value) continue;
    const owner = serviceNames.find((candidate) => name.startsWith(variableOf(candidate, '')));
    if (owner === service) own[name.slice(variableOf(service, '').length)] = value;
    else if (owner === undefined && !(isPort(name) && service !== 'gateway')) shared[name] = value;
  }
  return { ...shared, ...own };
}

/**
 * The name under which a person sets a service's setting in this environment: the bare one, or `<SERVICE>_<NAME>` where that is
 * set, or where a bare one would be another's.
 */
export function typedName(service: ServiceName, name: string, env: NodeJS.ProcessEnv): string {
  const own = variableOf(service, name);
  const isBareElsewhere = isPort(name) && !(service === 'gateway' && env[name]);
  return env[own] || isBareElsewhere ? own : name;
}

/** The services that run with this environment, each with its own. `dataDir` is an absolute path. */
export function localEnvironments(env: NodeJS.ProcessEnv, dataDir: string): Map<ServiceName, NodeJS.ProcessEnv> {
  const defaults = defaultSettings(env, dataDir);
  const running = serviceNames.filter((service) => service !== 'sandbox-provider' || hasSandbox(env));
  return new Map(running.map((service) => [service, withDefaults(environmentOf(service, env), defaults)]));
}

function defaultSettings(env: NodeJS.ProcessEnv, dataDir: string): Record<string, string> {
  return {
    REDIS_URL_FILE: generatedSecretFile(dataDir, 'REDIS_URL'),
    OBJECT_STORE: 'filesystem',
    OBJECT_STORE_DIR: join(dataDir, 'store'),
    PUBLIC_SITE_URL: sound(env, (from) => localAddress('site', from)),
    VERIFIER_URL: sound(env, (from) => localAddress('auth-verifier', from)),
    IDENTITY_PROVIDERS: identityProvidersAt(sound(env, (from) => localAddress('sandbox-provider', from))).join(),
    API_KEYS: sandboxApiKey,
    WEB_UPLOAD: '1',
    UPLOAD_URL: sound(env, localService),
    CORS_ORIGINS: siteOrigins(env).join(),
    WEB_UPLOAD_FILL: JSON.stringify(uploadFill(env)),
    ...Object.fromEntries(ownSecrets.map((name) => [`${name}_FILE`, generatedSecretFile(dataDir, name)])),
  };
}

// A person on this machine may call the site localhost too.
function siteOrigins(env: NodeJS.ProcessEnv): string[] {
  const local = sound(env, (from) => localAddress('site', from));
  const given = environmentOf('site', env)['PUBLIC_SITE_URL'];
  const { origin } = new URL(given && URL.canParse(given) ? given : local);
  return [...new Set([origin, origin.replace('//127.0.0.1', '//localhost')])];
}

// Everybody who opens the page reads it: nothing that a person has given goes into it.
function uploadFill(env: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...(hasSandbox(env) && { provider: sound(env, sandboxProvider) }),
    ...(!isGiven('API_KEYS', environmentOf('gateway', env)) && { apiKey: sandboxApiKey }),
    ...localCredentials(env),
  };
}

// A faulty port is reported by its service, and not again as a faulty address of others.
function sound(env: NodeJS.ProcessEnv, address: (env: NodeJS.ProcessEnv) => string): string {
  return URL.canParse(address(env)) ? address(env) : address({});
}

function withDefaults(env: NodeJS.ProcessEnv, defaults: Record<string, string>): NodeJS.ProcessEnv {
  const missing = Object.entries(defaults).filter(([name]) => !isGiven(name.replace(/_FILE$/, ''), env));
  return { ...env, ...Object.fromEntries(missing) };
}

function isGiven(name: string, env: NodeJS.ProcessEnv): boolean {
  if (name === 'REDIS_URL' && isGiven('QUEUE_REDIS_URL', env) && isGiven('CACHE_REDIS_URL', env)) return true;
  return Boolean(env[name] || env[`${name}_FILE`]);
}

function isPort(name: string): boolean {
  return name === 'PORT' || name === 'OPS_PORT';
}
