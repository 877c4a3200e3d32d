import { scopeFault } from '@echodrop/contracts/sign-in';
import type * as oauth from 'oauth4webapi';
import {
  type AuthorizationClient,
  clientOfApplication,
  defaultScopes,
  mastodonServer,
  openIdServer,
  registerApplication,
  requestOptions,
} from '../../sign-in/authorization-flow.ts';
import { quotedName, visibleName } from '../../visible-text.ts';
import { isPlainHttpLoopback, requireSecure } from './secure-address.ts';
import type { SiteProvider } from './site-settings.ts';

type Endpoint = 'authorization_endpoint' | 'token_endpoint';

/** A provider and how this program is known there. */
export type ProviderClient = AuthorizationClient<oauth.AuthorizationServer & Readonly<Record<Endpoint, string>>>;

const requestMs = 30_000;
const reportToSite = 'Report this to the operator of the site.';

/** Prepares a sign-in that returns to `redirectUri`: registers an application at Mastodon, reads the metadata of an OpenID provider. */
export function prepareClient(provider: SiteProvider, redirectUri: string): Promise<ProviderClient> {
  return provider.profile === 'mastodon' ? registerAtMastodon(provider, redirectUri) : discoverOpenId(provider);
}

/** The requests' limits of time and size, and plain HTTP only on this machine. */
export function optionsFor(address: string, ms = requestMs) {
  return requestOptions(AbortSignal.timeout(ms), isPlainHttpLoopback(address));
}

/** The scopes of which one is requested. @throws Error for a scope that is not necessary to identify the user */
export function requestedScopes({ profile, name, scope }: SiteProvider): readonly string[] {
  if (scope === undefined) return defaultScopes[profile];
  const fault = scopeFault(profile, scope);
  if (fault === undefined) return [scope];
  throw new Error(
    `The site requests the scope ${quotedName(scope)} at ${visibleName(name)}, but it ${fault}. ${reportToSite}`,
  );
}

async function registerAtMastodon(site: SiteProvider, redirectUri: string) {
  const server = mastodonServer(site.provider);
  requireSecure('provider', server.issuer);
  const registration = { name: 'echodrop', redirectUri, scopes: requestedScopes(site) };
  const application = await registerApplication(server, registration, AbortSignal.timeout(requestMs)).catch(
    (cause: unknown) => {
      throw new Error(`Cannot register echodrop at ${server.issuer}, so no user can sign in there.`, { cause });
    },
  );
  return clientOfApplication(server, application);
}

async function discoverOpenId(site: Extract<SiteProvider, { profile: 'oidc' }>) {
  const { name, provider, issuer, clientId } = site;
  requireSecure('provider', issuer);
  const [scope = ''] = requestedScopes(site);
  const metadata = `the OpenID Connect metadata of ${visibleName(name)} (${issuer})`;
  const server = await openIdServer(issuer, optionsFor(issuer)).catch((cause: unknown) => {
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
