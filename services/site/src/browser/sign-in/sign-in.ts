import type { AuthorizationClient } from '/scripts/sign-in-client.js';
import { authorizationAddress, newAttempt, redeemCode, validateAuthResponse } from '/scripts/sign-in-client.js';
import type { Attempt } from './attempt.ts';
import { keepAttempt } from './attempt.ts';
import { ProviderFault, SignInFault } from './fault.ts';
import { requireApplication } from './mastodon.ts';
import type { Provider, Session } from './page-settings.ts';
import { optionsFor, providerClient, revokeSession } from './provider-client.ts';
import { mastodonUser, openIdUser } from './user.ts';

// All requests until the redirect have so long, and all requests after it.
const limitMs = 20_000;
// RFC 6750, section 2.1, less strictly; the gateway accepts headers of 16 KiB.
const tokenSyntax = /^[\x21-\x7e]{1,12000}$/;

/**
 * Redirects to a provider, where the user signs in and is redirected back, in the end to `path`. Registers this site if the provider does not know
 * it.
 */
export async function beginSignIn(provider: Provider, path: string) {
  // Browsers have `crypto.subtle` on encrypted pages and on this machine.
  if (!globalThis.crypto?.subtle)
    throw new SignInFault('Signing in needs an encrypted connection: open this site with https.');
  const signal = AbortSignal.timeout(limitMs);
  const application =
    provider.profile === 'mastodon' ? await requireApplication(provider, redirectUri(provider), signal) : undefined;
  const client = await providerClient(provider, application, signal);
  const attempt = { ...newAttempt(), provider: provider.provider, returnTo: path, application };
  keepAttempt(attempt);
  location.assign(await authorizationAddress(client, pageAddress(client.server), redirectUri(provider), attempt));
}

/** Exchanges the code of an authorization response for a token, and reads the user's name. */
export async function completeSignIn(
  response: URLSearchParams,
  attempt: Attempt,
  provider: Provider,
): Promise<Session> {
  if (response.get('state') !== attempt.state)
    throw new SignInFault('This response belongs to another sign-in, so it was ignored.');
  const signal = AbortSignal.timeout(limitMs);
  const client = await providerClient(provider, attempt.application, signal);
  const code = validateAuthResponse(client.server, client.client, response, attempt.state);
  const options = optionsFor(provider, signal);
  const tokens = await redeemCode(client, code, redirectUri(provider), attempt, options);
  if (!tokenSyntax.test(tokens.access_token)) throw new ProviderFault('sent an invalid token');
  const session = {
    provider: provider.provider,
    providerName: provider.name,
    token: tokens.access_token,
    application: attempt.application,
    ...(tokens.expires_in !== undefined && { expiresAt: Date.now() + 1000 * tokens.expires_in }),
  };
  try {
    const user = client.isOpenId
      ? await openIdUser(client, tokens, options)
      : await mastodonUser(provider.provider, tokens.access_token, signal);
    return { ...session, ...user };
  } catch (error) {
    // The user could not sign out with such a token.
    await revokeSession(provider, session).catch(() => {});
    throw error;
  }
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
