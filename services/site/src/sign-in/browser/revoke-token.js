// @ts-check
import { reconnect } from './authorization-server.js';
import * as oauth from './oauth4webapi/build/index.js';
import { requestOptions } from './request-options.js';

/** @import { Provider } from './page-settings.js' */

const timeoutMs = 4000;

/**
 * Revokes a token (RFC 7009) if the provider has an address for it.
 *
 * @param {Provider} provider
 * @param {string} token
 */
export async function revokeToken(provider, token) {
  await Promise.race([revoke(provider, token), new Promise((resolve) => setTimeout(resolve, timeoutMs))]);
}

/**
 * @param {Provider} provider
 * @param {string} token
 */
async function revoke(provider, token) {
  const { server, client, authentication } = await reconnect(provider);
  if (!server.revocation_endpoint) return;
  await oauth.revocationRequest(server, client, authentication, token, requestOptions(server.issuer));
}
