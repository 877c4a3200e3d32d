// @ts-check
import { reconnect } from './authorization-server.js';
import * as oauth from './oauth4webapi/build/index.js';
import { requestOptions } from './request-options.js';

/** @import { Provider, Session } from './page-settings.js' */

const limitMs = 4000;

/**
 * Revokes the token of a session (RFC 7009).
 *
 * @param {Provider} provider
 * @param {Pick<Session, 'token' | 'application'>} session
 * @returns {Promise<boolean>} whether the provider confirmed it; it may have no address for it
 * @throws if the provider does not respond in time
 */
export async function revokeToken(provider, { token, application }) {
  const signal = AbortSignal.timeout(limitMs);
  const { server, client, authentication } = await reconnect(provider, application, signal);
  if (!server.revocation_endpoint) return false;
  const options = requestOptions(server.issuer, signal);
  const response = await oauth.revocationRequest(server, client, authentication, token, options);
  return response.ok;
}
