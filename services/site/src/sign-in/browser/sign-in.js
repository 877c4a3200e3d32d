// @ts-check
import { keepAttempt, returnPath } from './attempt.js';
import { connect, reconnect, redirectUri } from './authorization-server.js';
import { SignInFault } from './fault.js';
import { mastodonName } from './mastodon.js';
import * as oauth from './oauth4webapi/build/index.js';
import { oidcName } from './oidc.js';
import { requestOptions } from './request-options.js';

/** @import { Attempt } from './attempt.js' */
/** @import { Connection } from './authorization-server.js' */
/** @import { Provider, Session } from './page-settings.js' */

const maxName = 100;

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
  const { server, client, scope, application } = await connect(provider);
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
  const connection = await reconnect(provider, attempt.application);
  const { server, client } = connection;
  const code = oauth.validateAuthResponse(server, client, response, attempt.state);
  const tokens = await exchangeCode(connection, code, attempt, provider);
  const name =
    provider.profile === 'oidc'
      ? await oidcName(server, client, tokens)
      : await mastodonName(provider.provider, tokens.access_token);
  return {
    provider: provider.provider,
    providerName: provider.name,
    token: tokens.access_token,
    name: name.slice(0, maxName),
    application: connection.application,
  };
}

/**
 * @param {Omit<Connection, 'authentication'>} connection
 * @param {Attempt} attempt
 * @param {Provider} provider
 */
async function authorizationAddress({ server, client, scope }, { verifier, state, nonce }, provider) {
  const endpoint = server.authorization_endpoint;
  if (!endpoint || !/^https?:/.test(endpoint)) throw new SignInFault('The provider has no address for signing in.');
  const address = new URL(endpoint);
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
 * @param {Connection} connection
 * @param {URLSearchParams} code
 * @param {Attempt} attempt
 * @param {Provider} provider
 */
async function exchangeCode({ server, client, authentication }, code, { verifier, nonce }, provider) {
  const options = requestOptions(server.issuer);
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
