// @ts-check
import { reconnect } from './authorization-server.js';
import * as oauth from './oauth4webapi/build/index.js';
import { requestOptions } from './request-options.js';

/** @import { Provider, Session } from './page-settings.js' */

const timeoutMs = 4000;

/**
 * Revokes the token of a session (RFC 7009).
 *
 * @param {Provider} provider
 * @param {Session} session
 * @returns {Promise<boolean>} whether the provider confirmed it in time; it may have no address for it
 */
export async function revokeToken(provider, session) {
  const timeout = new Promise((resolve) => setTimeout(() => resolve(false), timeoutMs));
  return await Promise.race([revoke(provider, session), timeout]);
}

/**
 * @param {Provider} provider
 * @param {Session} session
 */
async function revoke(provider, { token, application }) {
  const { server, client, authentication } = await reconnect(provider, application);
  if (!server.revocation_endpoint) return false;
  const options = requestOptions(server.issuer);
  const response = await oauth.revocationRequest(server, client, authentication, token, options);
  return response.ok;
}
