import { scopeFault } from '@echodrop/contracts/sign-in';
import * as oauth from 'oauth4webapi';
import * as z from 'zod/mini';
import { readBody } from '../../read-body.ts';
import { quotedName, visibleName } from '../../visible-text.ts';
import { fetchJson, StatusError } from './fetch-json.ts';
import { isLoopback, requireSecure } from './secure-address.ts';
import type { SiteProvider } from './site-settings.ts';

type Endpoint = 'authorization_endpoint' | 'token_endpoint';

/** A provider and how this program is known there. */
export interface AuthorizationClient {
  readonly server: oauth.AuthorizationServer & Readonly<Record<Endpoint, string>>;
  readonly client: oauth.Client;
  readonly secret: string | undefined;
  readonly scope: string;
  readonly isOpenId: boolean;
}

const applicationShape = z.object({ client_id: z.string(), client_secret: z.string() });
const requestMs = 30_000;
const reportToSite = 'Report this to the operator of the site.';
// In this order, until the provider has one. Mastodon before 4.3 has no scope `profile`.
const defaultScopes = { mastodon: ['profile', 'read:accounts'], oidc: ['openid profile'] };

/** Prepares a sign-in that returns to `redirectUri`: registers an application at Mastodon, reads the metadata of an OpenID provider. */
export function prepareClient(provider: SiteProvider, redirectUri: string): Promise<AuthorizationClient> {
  return provider.profile === 'mastodon' ? registerAtMastodon(provider, redirectUri) : discoverOpenId(provider);
}

/** The requests' limits of time and size, and plain HTTP only on this machine. */
export function requestOptions(address: string, ms = requestMs) {
  const signal = AbortSignal.timeout(ms);
  return {
    signal,
    [oauth.allowInsecureRequests]: isLoopback(address),
    async [oauth.customFetch](...request: Parameters<typeof fetch>): Promise<Response> {
      const response = await fetch(...request);
      return new Response((await readBody(response, signal)) || null, response);
    },
  };
}

/** The scopes to request, in this order, until the provider has one. @throws Error for a scope that is not necessary to identify the user */
export function requestedScopes({ profile, name, scope }: SiteProvider): readonly string[] {
  if (scope === undefined) return defaultScopes[profile];
  const fault = scopeFault(profile, scope);
  if (fault === undefined) return [scope];
  throw new Error(
    `The site requests the scope ${quotedName(scope)} at ${visibleName(name)}, but it ${fault}. ${reportToSite}`,
  );
}

async function registerAtMastodon(site: SiteProvider, redirectUri: string) {
  const { origin } = new URL(site.provider);
  requireSecure('provider', origin);
  const scopes = requestedScopes(site);
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

async function discoverOpenId(site: Extract<SiteProvider, { profile: 'oidc' }>) {
  const { name, provider, issuer, clientId } = site;
  requireSecure('provider', issuer);
  const [scope = ''] = requestedScopes(site);
  const metadata = `the OpenID Connect metadata of ${visibleName(name)} (${issuer})`;
  const server = await fetchMetadata(new URL(issuer)).catch((cause: unknown) => {
    throw new Error(`Cannot use ${metadata}. Try again, or report this to the operator of the site.`, { cause });
  });
  const endpoint = (field: Endpoint) => {
    const address: unknown = server[field];
    if (typeof address !== 'string' || !URL.canParse(address))
      throw new Error(`The field ${field} in ${metadata} is not a URL. ${reportToSite}`);
    requireSecure(field.replace('_', ' '), address);
    return address;
  };
  // Otherwise a token of the issuer would go to a server that the site names.
  if (![issuer, server.userinfo_endpoint].some((each) => isSameOrigin(each, provider)))
    throw new Error(`The site names ${provider}, which is not on a server of ${metadata}. ${reportToSite}`);
  return {
    server: {
      ...server,
      authorization_endpoint: endpoint('authorization_endpoint'),
      token_endpoint: endpoint('token_endpoint'),
    },
    client: { client_id: clientId },
    secret: undefined,
    scope,
    isOpenId: true,
  };
}

function isSameOrigin(one: unknown, other: string): boolean {
  return typeof one === 'string' && URL.canParse(one) && new URL(one).origin === new URL(other).origin;
}

async function fetchMetadata(issuer: URL): Promise<oauth.AuthorizationServer> {
  const response = await oauth.discoveryRequest(issuer, { ...requestOptions(issuer.href), algorithm: 'oidc' });
  return oauth.processDiscoveryResponse(issuer, response);
}
