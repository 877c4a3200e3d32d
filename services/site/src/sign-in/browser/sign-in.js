// @ts-check
import { authorizationAddress, newAttempt, redeemCode, validateAuthResponse } from '/scripts/sign-in-client.js';
import { keepAttempt, returnPath } from './attempt.js';
import { ProviderFault, SignInFault } from './fault.js';
import { requireApplication } from './mastodon.js';
import { optionsFor, providerClient, revokeSession } from './provider-client.js';
import { mastodonUser, openIdUser } from './user.js';

/** @import { AuthorizationClient } from '/scripts/sign-in-client.js' */
/** @import { Attempt } from './attempt.js' */
/** @import { Provider, Session } from './page-settings.js' */

// For all requests until the redirect, and for all after it.
const limitMs = 20_000;
// RFC 6750, section 2.1, less strictly; the gateway accepts headers of 16 KiB.
const tokenSyntax = /^[\x21-\x7e]{1,12000}$/;

/**
 * Redirects to a provider, where the user signs in and is redirected back. Registers this site if the provider does not know it.
 *
 * @param {Provider} provider
 * @param {string} path to return to afterwards
 */
export async function beginSignIn(provider, path) {
  // Browsers have it on encrypted pages and on this machine.
  if (!globalThis.crypto?.subtle)
    throw new SignInFault('Signing in needs an encrypted connection: open this site with https.');
  const signal = AbortSignal.timeout(limitMs);
  const application =
    provider.profile === 'mastodon' ? await requireApplication(provider, redirectUri(provider), signal) : undefined;
  const client = await providerClient(provider, application, signal);
  const attempt = { ...newAttempt(), provider: provider.provider, returnTo: returnPath(path), application };
  keepAttempt(attempt);
  location.assign(await authorizationAddress(client, pageAddress(client.server), redirectUri(provider), attempt));
}

/**
 * Exchanges the code of an authorization response for a token, and reads the user's name.
 *
 * @param {URLSearchParams} response
 * @param {Attempt} attempt
 * @param {Provider} provider
 * @returns {Promise<Session>}
 */
export async function completeSignIn(response, attempt, provider) {
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
    // The user could not sign out with it.
    await revokeSession(provider, session).catch(() => {});
    throw error;
  }
}

/**
 * The exact address to which this provider redirects.
 *
 * @param {Provider} provider
 */
function redirectUri({ redirectPath }) {
  return location.origin + redirectPath;
}

/**
 * The page to which people go. Plain HTTP only if the operator configured an http: address.
 *
 * @param {AuthorizationClient['server']} server
 */
function pageAddress({ authorization_endpoint: endpoint = '', issuer }) {
  const address = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (address && ['https:', new URL(issuer).protocol].includes(address.protocol)) return address;
  throw new ProviderFault('has no valid address for signing in');
}
