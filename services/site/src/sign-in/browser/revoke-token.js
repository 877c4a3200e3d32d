// @ts-check
import { reconnect } from './authorization-server.js';
import * as oauth from './oauth4webapi/build/index.js';
import { requestOptions } from './request-options.js';

/** @import { Provider, Session } from './page-settings.js' */

const timeoutMs = 4000;

/**
 * Revokes the token of a session (RFC 7009) if the provider has an address for it.
 *
 * @param {Provider} provider
 * @param {Session} session
 */
export async function revokeToken(provider, session) {
  await Promise.race([revoke(provider, session), new Promise((resolve) => setTimeout(resolve, timeoutMs))]);
}

/**
 * @param {Provider} provider
 * @param {Session} session
 */
async function revoke(provider, { token, application }) {
  const { server, client, authentication } = await reconnect(provider, application);
  if (!server.revocation_endpoint) return;
  await oauth.revocationRequest(server, client, authentication, token, requestOptions(server.issuer));
}
