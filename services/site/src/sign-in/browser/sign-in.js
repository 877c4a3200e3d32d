// @ts-check
import { keepAttempt, returnPath } from './attempt.js';
import { connect, reconnect, redirectUri } from './authorization-server.js';
import { ProviderFault, SignInFault } from './fault.js';
import { mastodonUser } from './mastodon.js';
import * as oauth from './oauth4webapi/build/index.js';
import { oidcUser } from './oidc.js';
import { requestOptions } from './request-options.js';
import { revokeToken } from './revoke-token.js';

/** @import { Attempt } from './attempt.js' */
/** @import { Connection } from './authorization-server.js' */
/** @import { Provider, Session } from './page-settings.js' */

// For all requests until the redirect, and for all after it.
const limitMs = 20_000;
// RFC 6750, section 2.1, less strictly; the gateway accepts headers of 16 KiB.
const tokenSyntax = /^[\x21-\x7e]{1,12000}$/;

/**
 * Redirects to a provider, where the user signs in and is redirected back. Authorization code flow with PKCE (RFC 7636).
 *
 * @param {Provider} provider
 * @param {string} path to return to afterwards
 */
export async function beginSignIn(provider, path) {
  // Browsers have it on encrypted pages and on this machine.
  if (!globalThis.crypto?.subtle)
    throw new SignInFault('Signing in needs an encrypted connection: open this site with https.');
  const { server, client, scope, application } = await connect(provider, AbortSignal.timeout(limitMs));
  const attempt = {
    provider: provider.provider,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    returnTo: returnPath(path),
    application,
  };
  keepAttempt(attempt);
  location.assign(await authorizationAddress({ server, client, scope }, attempt, provider));
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
  const connection = await reconnect(provider, attempt.application, signal);
  const { server, client } = connection;
  const code = oauth.validateAuthResponse(server, client, response, attempt.state);
  const tokens = await exchangeCode(connection, code, attempt, provider, signal);
  if (!tokenSyntax.test(tokens.access_token)) throw new ProviderFault('sent an invalid token');
  const session = {
    provider: provider.provider,
    providerName: provider.name,
    token: tokens.access_token,
    application: connection.application,
    ...(tokens.expires_in !== undefined && { expiresAt: Date.now() + 1000 * tokens.expires_in }),
  };
  try {
    const user =
      provider.profile === 'oidc'
        ? await oidcUser(server, client, tokens, signal)
        : await mastodonUser(provider.provider, tokens.access_token, signal);
    return { ...session, ...user };
  } catch (error) {
    // The user could not sign out with it.
    await revokeToken(provider, session).catch(() => {});
    throw error;
  }
}

/**
 * @param {Omit<Connection, 'authentication'>} connection
 * @param {Attempt} attempt
 * @param {Provider} provider
 */
async function authorizationAddress({ server, client, scope }, { verifier, state, nonce }, provider) {
  const address = pageAddress(server);
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri(provider),
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(provider.profile === 'oidc' && { nonce }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/**
 * The page to which people go. Plain HTTP only if the operator configured an http: address.
 *
 * @param {oauth.AuthorizationServer} server
 */
function pageAddress({ authorization_endpoint: endpoint = '', issuer }) {
  const address = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (address && ['https:', new URL(issuer).protocol].includes(address.protocol)) return address;
  throw new ProviderFault('has no valid address for signing in');
}

/**
 * @param {Connection} connection
 * @param {URLSearchParams} code
 * @param {Attempt} attempt
 * @param {Provider} provider
 * @param {AbortSignal} signal
 */
async function exchangeCode({ server, client, authentication }, code, { verifier, nonce }, provider, signal) {
  const options = requestOptions(server.issuer, signal);
  const sent = oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    code,
    redirectUri(provider),
    verifier,
    options,
  );
  const checks = provider.profile === 'oidc' ? { expectedNonce: nonce, requireIdToken: true } : {};
  return await oauth.processAuthorizationCodeResponse(server, client, await sent, checks);
}
