// @ts-check

/**
 * A provider at which people sign in; `provider` is its advertised address. It alone redirects to `redirectPath`.
 *
 * @typedef {{ profile: 'mastodon', name: string, provider: string, redirectPath: string, scope?: string }} MastodonProvider
 * @typedef {{ profile: 'oidc', name: string, provider: string, redirectPath: string, scope?: string, issuer: string, clientId: string }} OidcProvider
 * @typedef {MastodonProvider | OidcProvider} Provider
 */

/**
 * Who is signed in, in this tab only. `name` is for people, `subject` the id at the provider; `provider` is the advertised address; `application` revokes the token, which is valid until `expiresAt` (milliseconds) if the provider says so.
 *
 * @typedef {{ provider: string, providerName: string, token: string, name: string, subject?: string, application?: unknown, expiresAt?: number }} Session
 */

/**
 * What the site says of itself in every page that signs in.
 *
 * @returns {{ upload: string, apiKey?: string, providers: readonly Provider[] }}
 */
export function pageSettings() {
  const settings = document.getElementById('sign-in-settings')?.dataset['settings'];
  return settings === undefined ? { upload: '', providers: [] } : JSON.parse(settings);
}
