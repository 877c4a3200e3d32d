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

/**
 * The address of a service that `npm start` runs with this environment: `<SERVICE>_PORT` and `<SERVICE>_HOST`, a bare `PORT`
 * for the gateway, a bare `HOST` for all (DESIGN, "Settings that others rely on"). A host that means every interface is asked on loopback.
 */
export function localAddress(service: keyof typeof localPorts, env: NodeJS.ProcessEnv): string {
  const prefix = service.replace('-', '_').toUpperCase();
  const bare = service === 'gateway' ? env.PORT : undefined;
  const port = env[`${prefix}_PORT`] || bare || localPorts[service];
  return `http://${reachable(env[`${prefix}_HOST`] || env.HOST || '127.0.0.1')}:${port}`;
}

/** The address that a client of the sandbox identity provider signs for. */
export function localProvider(env: NodeJS.ProcessEnv): string {
  return `${localAddress('sandbox-provider', env)}/1/account/verify_credentials.json`;
}

/** The host part of an address under which a listener on `host` can be asked. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
