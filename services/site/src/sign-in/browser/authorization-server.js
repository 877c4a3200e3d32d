// @ts-check
import { SignInFault } from './fault.js';
import { isApplication, mastodonServer, requireApplication } from './mastodon.js';
import * as oauth from './oauth4webapi/build/index.js';
import { oidcServer } from './oidc.js';

/** @import { Application } from './mastodon.js' */
/** @import { Provider } from './page-settings.js' */

/**
 * An authorization server, and this site as its client. `application` is what the site registered, if it did.
 *
 * @typedef {{ server: oauth.AuthorizationServer, client: oauth.Client, authentication: oauth.ClientAuth, scope: string, application?: Application }} Connection
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
 * @param {AbortSignal} signal
 * @returns {Promise<Connection>}
 */
export async function connect(provider, signal) {
  if (provider.profile === 'oidc') return await connectOidc(provider, signal);
  const server = mastodonServer(provider.provider);
  return connectionOf(server, await requireApplication(server, redirectUri(provider), provider.scope, signal));
}

/**
 * The connection with which a sign-in began. Codes and tokens belong to its application, and another tab may have registered a newer one.
 *
 * @param {Provider} provider
 * @param {unknown} application
 * @param {AbortSignal} signal
 * @returns {Promise<Connection>}
 */
export async function reconnect(provider, application, signal) {
  if (provider.profile === 'oidc') return await connectOidc(provider, signal);
  if (!isApplication(application)) throw new SignInFault('This sign-in has expired. Sign in again.');
  return connectionOf(mastodonServer(provider.provider), application);
}

/**
 * @param {Extract<Provider, { profile: 'oidc' }>} provider
 * @param {AbortSignal} signal
 */
async function connectOidc({ issuer, clientId, scope = 'openid profile' }, signal) {
  return {
    server: await oidcServer(issuer, signal),
    client: { client_id: clientId },
    authentication: oauth.None(),
    scope,
  };
}

/**
 * @param {oauth.AuthorizationServer} server
 * @param {Application} application
 */
function connectionOf(server, application) {
  const { clientId, clientSecret, scope } = application;
  const authentication = oauth.ClientSecretPost(clientSecret);
  return { server, client: { client_id: clientId }, authentication, scope, application };
}
