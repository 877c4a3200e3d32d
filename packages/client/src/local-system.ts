import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OAuthCredentials } from '@echodrop/oauth/signed-get';

/** What the sandbox identity provider knows; nothing of it is a secret. */
export const sandboxCredentials: OAuthCredentials = {
  consumerKey: 'sandbox-consumer',
  consumerSecret: 'sandbox-consumer-secret',
  token: '12345-sandbox',
  tokenSecret: 'sandbox-token-secret',
};

export const sandboxApiKey = 'sandbox-key';

/** The ports on which `npm start` puts what speaks HTTP, unless told otherwise. */
export const localPorts = { gateway: 8080, site: 8081, 'auth-verifier': 8082, 'sandbox-provider': 8085 } as const;

/** Where `npm start` keeps a secret that it made, below DATA_DIR. */
export function generatedSecretFile(dataDir: string, name: string): string {
  return join(dataDir, 'secrets', name);
}

/** The variable that sets `name` for one service of `npm start` alone: `SITE_PORT` (docs/settings.md, "npm start"). */
export function variableOf(service: string, name: string): string {
  return `${service.replace('-', '_').toUpperCase()}_${name}`;
}

/**
 * The address of a service that `npm start` runs with this environment: its HOST and PORT. A host that means every interface is
 * asked on loopback.
 */
export function localAddress(service: keyof typeof localPorts, env: NodeJS.ProcessEnv): string {
  const port = settingOf(service, 'PORT', env) ?? localPorts[service];
  return `http://${reachableHost(settingOf(service, 'HOST', env) ?? '127.0.0.1')}:${port}`;
}

/** The address below which `/1/` and `/2/` lie: the gateway's, with the first of BASE_PATHS, without a slash at its end. */
export function localService(env: NodeJS.ProcessEnv): string {
  const [base = ''] = entries(settingOf('gateway', 'BASE_PATHS', env));
  const path = base.replace(/^\/+|\/+$/g, '');
  return localAddress('gateway', env) + (path && `/${path}`);
}

/**
 * The first of API_KEYS, whose entries are `key` or `name=key`; they may lie in the file that API_KEYS_FILE names.
 * @throws the system's error when that file cannot be read
 */
export function localApiKey(env: NodeJS.ProcessEnv): string {
  const file = settingOf('gateway', 'API_KEYS_FILE', env);
  const given = settingOf('gateway', 'API_KEYS', env) ?? (file && readFileSync(file, 'utf8'));
  const [first = sandboxApiKey] = entries(given);
  return first.replace(/^[\w.-]+=(?=.)/, '');
}

/** Whether the sandbox identity provider belongs to the system: only where no other is named. */
export function hasSandbox(env: NodeJS.ProcessEnv): boolean {
  return settingOf('auth-verifier', 'IDENTITY_PROVIDERS', env) === undefined;
}

/** The address that a client of the sandbox identity provider signs for. */
export function sandboxProvider(env: NodeJS.ProcessEnv): string {
  return `${localAddress('sandbox-provider', env)}/1/account/verify_credentials.json`;
}

/** The address that a client signs for: that of the first of IDENTITY_PROVIDERS, `[profile ]advertised[=upstream]`, or the sandbox's. */
export function localProvider(env: NodeJS.ProcessEnv): string {
  if (hasSandbox(env)) return sandboxProvider(env);
  const [first = ''] = entries(settingOf('auth-verifier', 'IDENTITY_PROVIDERS', env));
  return first.replace(/^\S+ /, '').replace(/=https?:\/\/.*$/, '');
}

/** A user whom the system's identity provider knows; undefined where it is not the sandbox, or one with users of its own. */
export function localCredentials(env: NodeJS.ProcessEnv): OAuthCredentials | undefined {
  const isOwn = hasSandbox(env) && settingOf('sandbox-provider', 'SANDBOX_USERS_FILE', env) === undefined;
  return isOwn ? sandboxCredentials : undefined;
}

/** Whether the system's sandbox was told to misbehave from the start, so that uploads by its user may well fail. */
export function isSandboxMisbehaving(env: NodeJS.ProcessEnv): boolean {
  return (settingOf('sandbox-provider', 'SANDBOX_BEHAVIOUR', env) ?? 'normal') !== 'normal';
}

/** The host part of an address under which a listener on `host` can be asked. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

// A bare PORT is the gateway's; other bare names are for all.
function settingOf(service: keyof typeof localPorts, name: string, env: NodeJS.ProcessEnv): string | undefined {
  const bare = name === 'PORT' && service !== 'gateway' ? undefined : env[name];
  return env[variableOf(service, name)] || bare || undefined;
}

function entries(list = ''): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}
