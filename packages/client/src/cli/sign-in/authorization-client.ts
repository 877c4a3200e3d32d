import * as oauth from 'oauth4webapi';
import * as z from 'zod/mini';
import { readBody } from '../../read-body.ts';
import { fetchJson, StatusError } from './fetch-json.ts';
import { isLoopback, requireSecure } from './secure-address.ts';
import type { SiteProvider } from './site-settings.ts';

/** A provider and how this program is known there. */
export interface AuthorizationClient {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly secret: string | undefined;
  readonly scope: string;
  readonly isOpenId: boolean;
}

const applicationShape = z.object({ client_id: z.string(), client_secret: z.string() });
const requestMs = 30_000;

/** Prepares a sign-in that returns to `redirectUri`: registers an application at Mastodon, reads the metadata of an OpenID provider. */
export function prepareClient(provider: SiteProvider, redirectUri: string): Promise<AuthorizationClient> {
  return provider.profile === 'mastodon' ? registerAtMastodon(provider, redirectUri) : discoverOpenId(provider);
}

/** The requests' limits of time and size, and plain HTTP only on this machine. */
export function requestOptions(address: string) {
  return {
    signal: AbortSignal.timeout(requestMs),
    [oauth.allowInsecureRequests]: isLoopback(address),
    [oauth.customFetch]: fetchWhole,
  };
}

async function fetchWhole(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  return new Response((await readBody(response)) || null, response);
}

async function registerAtMastodon({ provider, scope }: SiteProvider, redirectUri: string) {
  const { origin } = new URL(provider);
  requireSecure('provider', origin);
  // Mastodon before 4.3 has no scope `profile`.
  const scopes = scope ? [scope] : ['profile', 'read:accounts'];
  for (const [n, each] of scopes.entries()) {
    try {
      const { client_id, client_secret } = await registerApplication(origin, each, redirectUri);
      return {
        server: {
          issuer: origin,
          authorization_endpoint: `${origin}/oauth/authorize`,
          token_endpoint: `${origin}/oauth/token`,
          revocation_endpoint: `${origin}/oauth/revoke`,
        },
        client: { client_id },
        secret: client_secret,
        scope: each,
        isOpenId: false,
      };
    } catch (error) {
      const isRefused = error instanceof StatusError && [400, 422].includes(error.status);
      if (!isRefused || n === scopes.length - 1) throw error;
    }
  }
  throw new Error(`${origin} does not register applications.`);
}

async function registerApplication(origin: string, scope: string, redirectUri: string) {
  const body = new URLSearchParams({ client_name: 'echodrop', redirect_uris: redirectUri, scopes: scope });
  const { data } = applicationShape.safeParse(await fetchJson(`${origin}/api/v1/apps`, { method: 'POST', body }));
  if (!data) throw new Error(`${origin} does not register applications, so no user can sign in there.`);
  return data;
}

async function discoverOpenId({ issuer, clientId, scope }: Extract<SiteProvider, { profile: 'oidc' }>) {
  requireSecure('provider', issuer);
  const expected = new URL(issuer);
  const response = await oauth.discoveryRequest(expected, { ...requestOptions(issuer), algorithm: 'oidc' });
  return {
    server: await oauth.processDiscoveryResponse(expected, response),
    client: { client_id: clientId },
    secret: undefined,
    scope: scope ?? 'openid profile',
    isOpenId: true,
  };
}
