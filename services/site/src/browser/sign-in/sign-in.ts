import type { AuthorizationClient } from '/scripts/sign-in-client.js';
import {
  authorizationAddress,
  newAttempt,
  redeemCode,
  revokeToken,
  validateAuthResponse,
} from '/scripts/sign-in-client.js';
import type { Attempt } from './attempt.ts';
import { keepAttempt } from './attempt.ts';
import { ProviderFault, SignInFault } from './fault.ts';
import { requireApplication } from './mastodon.ts';
import type { Provider, Session } from './page-settings.ts';
import { pageSettings, siteOrigin } from './page-settings.ts';
import { optionsFor, providerClient } from './provider-client.ts';
import { keepSession } from './session.ts';
import { mastodonUser, openIdUser } from './user.ts';

// All requests until the redirect have so long, and all requests after it.
const limitMs = 20_000;
// RFC 6750, section 2.1, less strictly; the gateway accepts headers of 16 KiB.
const tokenSyntax = /^[\x21-\x7e]{1,12000}$/;

/**
 * Redirects to a provider, where the user signs in and is redirected back, in the end to this page. Registers this site if the provider does not know
 * it.
 */
export async function beginSignIn(provider: Provider, purpose: Attempt['purpose'] = 'session') {
  // The gateway gives sessions to pages of this origin only.
  if (location.origin !== siteOrigin()) return location.assign(siteOrigin() + location.pathname);
  // Browsers have `crypto.subtle` on encrypted pages and on this machine.
  if (!globalThis.crypto?.subtle)
    throw new SignInFault('Signing in needs an encrypted connection: open this site with https.');
  const signal = AbortSignal.timeout(limitMs);
  const application =
    provider.profile === 'mastodon' ? await requireApplication(provider, redirectUri(provider), signal) : undefined;
  const client = await providerClient(provider, application, signal);
  const attempt = {
    ...newAttempt(),
    provider: provider.provider,
    returnTo: location.pathname,
    application,
  };
  const address = await authorizationAddress(client, pageAddress(client.server), redirectUri(provider), attempt);
  // The provider's page replaces a copy of this page, so that the length of the history says how far back this page is.
  history.pushState(history.state, '');
  keepAttempt({ ...attempt, purpose, entries: history.length });
  location.replace(address);
}

/** A user who has allowed access, and the token. */
export type SignedIn = Pick<Session, 'name' | 'subject' | 'expiresAt' | 'application'> & { token: string };

/** Exchanges the code of an authorization response for a token, and reads the user's name. */
export async function completeSignIn(
  response: URLSearchParams,
  attempt: Attempt,
  provider: Provider,
): Promise<SignedIn> {
  if (response.get('state') !== attempt.state)
    throw new SignInFault('This response belongs to another sign-in, so it was ignored.');
  const signal = AbortSignal.timeout(limitMs);
  const client = await providerClient(provider, attempt.application, signal);
  const code = validateAuthResponse(client.server, client.client, response, attempt.state);
  const options = optionsFor(provider, signal);
  const tokens = await redeemCode(client, code, redirectUri(provider), attempt, options);
  if (!tokenSyntax.test(tokens.access_token)) throw new ProviderFault('sent an invalid token');
  const { revocation_endpoint: endpoint } = client.server;
  const token = tokens.access_token;
  try {
    const user = client.isOpenId
      ? await openIdUser(client, tokens, options)
      : await mastodonUser(provider.provider, token, signal);
    return {
      ...user,
      token,
      ...(endpoint !== undefined && { application: applicationOf(client, endpoint) }),
      ...(tokens.expires_in !== undefined && { expiresAt: Date.now() + 1000 * tokens.expires_in }),
    };
  } catch (error) {
    // The user could not sign out with such a token.
    await revokeToken(client, token, options).catch(() => {});
    throw error;
  }
}

/** Begins a session of this browser: the gateway puts the token into a cookie. @throws SignInFault */
export async function beginSession(provider: Provider, { token, ...user }: SignedIn): Promise<void> {
  const seconds = user.expiresAt === undefined ? '' : `?seconds=${Math.floor((user.expiresAt - Date.now()) / 1000)}`;
  const response = await fetch(`${pageSettings().upload}/2/session${seconds}`, {
    method: 'POST',
    credentials: 'include',
    headers: { 'X-Auth-Service-Provider': provider.provider, 'X-Verify-Credentials-Authorization': `Bearer ${token}` },
    signal: AbortSignal.timeout(limitMs),
  }).catch(() => {
    throw new SignInFault('The upload server does not respond. Sign in again later.');
  });
  const { name: publicName, errors } = await response.json().catch(() => ({}));
  if (!response.ok || typeof publicName !== 'string')
    throw new SignInFault(
      errors?.[0]?.message ?? 'The upload server sent an unexpected response. Sign in again later.',
    );
  keepSession({
    ...user,
    id: crypto.randomUUID(),
    provider: provider.provider,
    providerName: provider.name,
    publicName,
  });
}

function applicationOf({ client, secret }: AuthorizationClient, endpoint: string) {
  return { endpoint, clientId: client.client_id, ...(secret !== undefined && { clientSecret: secret }) };
}

/** The exact address to which this provider redirects. */
function redirectUri({ redirectPath }: Provider) {
  return location.origin + redirectPath;
}

/** The page to which people go. Plain HTTP only if the operator configured an http: address. */
function pageAddress({ authorization_endpoint: endpoint = '', issuer }: AuthorizationClient['server']) {
  const address = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (address && ['https:', new URL(issuer).protocol].includes(address.protocol)) return address;
  throw new ProviderFault('has no valid address for signing in');
}
