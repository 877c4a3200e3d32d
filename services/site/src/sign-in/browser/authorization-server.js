// @ts-check
import { SignInFault } from './fault.js';
import { keptApplication, mastodonServer, requireApplication } from './mastodon.js';
import * as oauth from './oauth4webapi/build/index.js';
import { oidcServer } from './oidc.js';

/** @import { Provider } from './page-settings.js' */

/**
 * An authorization server, and this site as its client.
 *
 * @typedef {{ server: oauth.AuthorizationServer, client: oauth.Client, authentication: oauth.ClientAuth, scope: string }} Connection
 */

/**
 * The exact address to which this provider redirects.
 *
 * @param {Provider} provider
 */
export function redirectUri({ redirectPath }) {
  return location.origin + redirectPath;
}

/**
 * A connection for a new sign-in. Registers this site if the provider does not know it.
 *
 * @param {Provider} provider
 * @returns {Promise<Connection>}
 */
export async function connect(provider) {
  if (provider.profile === 'oidc') return await connectOidc(provider);
  const server = mastodonServer(provider.provider);
  return connectionOf(server, await requireApplication(server, redirectUri(provider), provider.scope));
}

/**
 * The connection with which a sign-in began.
 *
 * @param {Provider} provider
 * @returns {Promise<Connection>}
 */
export async function reconnect(provider) {
  if (provider.profile === 'oidc') return await connectOidc(provider);
  const server = mastodonServer(provider.provider);
  const application = keptApplication(server, redirectUri(provider));
  if (!application) throw new SignInFault('This sign-in has expired.');
  return connectionOf(server, application);
}

/** @param {Extract<Provider, { profile: 'oidc' }>} provider */
async function connectOidc({ issuer, clientId, scope = 'openid profile' }) {
  return { server: await oidcServer(issuer), client: { client_id: clientId }, authentication: oauth.None(), scope };
}

/**
 * @param {oauth.AuthorizationServer} server
 * @param {import('./mastodon.js').Application} application
 */
function connectionOf(server, { clientId, clientSecret, scope }) {
  return { server, client: { client_id: clientId }, authentication: oauth.ClientSecretPost(clientSecret), scope };
}
