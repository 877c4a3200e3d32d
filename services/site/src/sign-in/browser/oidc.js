// @ts-check
import { accountName } from './account-name.js';
import * as oauth from './oauth4webapi/build/index.js';
import { requestOptions } from './request-options.js';

/**
 * Reads the metadata of a provider, which must name the configured issuer.
 *
 * @param {string} issuer
 * @param {AbortSignal} signal
 */
export async function oidcServer(issuer, signal) {
  const address = new URL(issuer);
  const response = await oauth.discoveryRequest(address, requestOptions(issuer, signal));
  return await oauth.processDiscoveryResponse(address, response);
}

/**
 * Name and subject of a user, who must be the one of the ID token.
 *
 * @param {oauth.AuthorizationServer} server
 * @param {oauth.Client} client
 * @param {oauth.TokenEndpointResponse} tokens
 * @param {AbortSignal} signal
 */
export async function oidcUser(server, client, tokens, signal) {
  const subject = oauth.getValidatedIdTokenClaims(tokens)?.sub ?? '';
  const options = requestOptions(server.issuer, signal);
  const response = await oauth.userInfoRequest(server, client, tokens.access_token, options);
  const {
    name,
    preferred_username: username,
    sub,
  } = await oauth.processUserInfoResponse(server, client, subject, response);
  return { name: accountName(name, username) || accountName(undefined, sub), subject: sub };
}
