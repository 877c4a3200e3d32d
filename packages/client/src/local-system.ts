import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OAuthCredentials } from '@echodrop/oauth/signed-get';
import { defaultPorts } from '@echodrop/service/default-ports';

/** Credentials of the sandbox's user; not secret. */
export const sandboxBearer = 'sandbox-bearer';
export const sandboxSigning: OAuthCredentials = {
  consumerKey: 'sandbox-consumer',
  consumerSecret: 'sandbox-consumer-secret',
  token: '12345-sandbox',
  tokenSecret: 'sandbox-token-secret',
};

export const sandboxApiKey = 'sandbox-key';

/** The file of a secret that `npm start` generated, below DATA_DIR. */
export function generatedSecretFile(dataDir: string, name: string): string {
  return join(dataDir, 'secrets', name);
}

/** The variable that sets `name` for one service of `npm start`, such as `SITE_PORT` (docs/reference/settings.md, "npm start"). */
export function variableOf(service: string, name: string): string {
  return `${service.replace('-', '_').toUpperCase()}_${name}`;
}

/** The address of a service that `npm start` runs in this environment. */
export function localAddress(service: keyof typeof defaultPorts, env: NodeJS.ProcessEnv): string {
  const port = settingOf(service, 'PORT', env) ?? defaultPorts[service];
  return `http://${reachableHost(settingOf(service, 'HOST', env) ?? '127.0.0.1')}:${port}`;
}

/** The base address of `/1/` and `/2/`: the gateway with the first of BASE_PATHS, without a trailing slash. */
export function localService(env: NodeJS.ProcessEnv): string {
  const [base = ''] = entries(settingOf('gateway', 'BASE_PATHS', env));
  const path = base.replace(/^\/+|\/+$/g, '');
  return localAddress('gateway', env) + (path && `/${path}`);
}

/** The first key of API_KEYS or API_KEYS_FILE, whose entries are `key` or `name=key`. @throws the system's error if the file cannot be read */
export function localApiKey(env: NodeJS.ProcessEnv): string {
  const file = settingOf('gateway', 'API_KEYS_FILE', env);
  const given = settingOf('gateway', 'API_KEYS', env) ?? (file && readFileSync(file, 'utf8'));
  const [first = sandboxApiKey] = entries(given);
  return first.replace(/^[\w.-]+=(?=.)/, '');
}

/** Whether the system uses the sandbox identity provider: only if no other is configured. */
export function hasSandbox(env: NodeJS.ProcessEnv): boolean {
  return settingOf('auth-verifier', 'IDENTITY_PROVIDERS', env) === undefined;
}

/** Where the sandbox takes bearer tokens and people sign in, so that all uploads belong to one user: each address is a provider of its own. */
export function sandboxProvider(env: NodeJS.ProcessEnv): string {
  return `${localAddress('sandbox-provider', env)}/api/v1/accounts/verify_credentials`;
}

/** Where the sandbox takes OAuth 1.0a signatures. */
export function sandboxSigningProvider(env: NodeJS.ProcessEnv): string {
  return `${localAddress('sandbox-provider', env)}/1/account/verify_credentials.json`;
}

/** The first of IDENTITY_PROVIDERS, `[profile ]advertised[=upstream]`; undefined with the sandbox. */
export function configuredProvider(env: NodeJS.ProcessEnv): string | undefined {
  const [first] = entries(settingOf('auth-verifier', 'IDENTITY_PROVIDERS', env));
  return first?.replace(/^\S+ /, '').replace(/=https?:\/\/.*$/, '');
}

/** Whether the user with the credentials of this file exists: only in the sandbox, unless it has a users file. */
export function hasSandboxUser(env: NodeJS.ProcessEnv): boolean {
  return hasSandbox(env) && settingOf('sandbox-provider', 'SANDBOX_USERS_FILE', env) === undefined;
}

/** The host in the address of a listener on `host`: loopback if it listens on all interfaces. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

// PORT without a prefix applies to the gateway; other names apply to all services.
function settingOf(service: keyof typeof defaultPorts, name: string, env: NodeJS.ProcessEnv): string | undefined {
  const bare = name === 'PORT' && service !== 'gateway' ? undefined : env[name];
  return env[variableOf(service, name)] || bare || undefined;
}

function entries(list = ''): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}
