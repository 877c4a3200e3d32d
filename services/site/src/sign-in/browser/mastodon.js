// @ts-check
import { parseJson } from '/scripts/service-response.js';
import { accountName } from './account-name.js';
import { ProviderFault } from './fault.js';
import { limitedFetch } from './limited-fetch.js';
import * as oauth from './oauth4webapi/build/index.js';
import { requestOptions } from './request-options.js';

/** @typedef {{ clientId: string, clientSecret: string, scope: string }} Application */

// A scope that shows nothing but the account, since Mastodon 4.3, and what earlier releases and similar software have.
const narrowScope = 'profile';
const widerScope = 'read:accounts';
// Of the name of an application, at Mastodon.
const maxName = 60;
// RFC 6749, appendix A, with a limit of ours.
const fieldSyntax = /^[\x20-\x7e]{1,1000}$/;
// RFC 6749, section 5.2: the client is unknown, or was registered for something else.
const unusable = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

/**
 * The endpoints of an instance. Its metadata, if it has any, is only read for the scopes.
 *
 * @param {string} provider
 */
export function mastodonServer(provider) {
  const { origin } = new URL(provider);
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
  };
}

/**
 * The application of this site at an instance: the one that this browser keeps if the instance still knows it, or a new one.
 *
 * @param {oauth.AuthorizationServer} server
 * @param {string} redirectUri
 * @param {string | undefined} scope
 * @param {AbortSignal} signal
 * @returns {Promise<Application>}
 */
export async function requireApplication(server, redirectUri, scope, signal) {
  const kept = keptApplication(server, redirectUri);
  // An earlier setting may have registered more.
  const isFit = kept && (scope === undefined ? [narrowScope, widerScope] : [scope]).includes(kept.scope);
  if (isFit && (await isKnown(server, kept, signal))) return kept;
  const scopes = scope === undefined ? await scopesToTry(server, signal) : [scope];
  for (const each of scopes) {
    const application = await register(server, redirectUri, each, signal);
    if (!application) continue;
    keepApplication(keyOf(server, redirectUri), application);
    return application;
  }
  throw new ProviderFault('did not register this site as an application');
}

/**
 * If storage is full or blocked, the next sign-in registers again.
 *
 * @param {string} key
 * @param {Application} application
 */
function keepApplication(key, application) {
  try {
    localStorage.setItem(key, JSON.stringify(application));
  } catch {}
}

/**
 * @param {any} value
 * @returns {value is Application}
 */
export function isApplication(value) {
  return [value?.clientId, value?.clientSecret, value?.scope].every(
    (field) => typeof field === 'string' && fieldSyntax.test(field),
  );
}

/**
 * The name that an account shows, and its id.
 *
 * @param {string} provider
 * @param {string} token
 * @param {AbortSignal} signal
 */
export async function mastodonUser(provider, token, signal) {
  const response = await limitedFetch(provider, {
    headers: { Authorization: `Bearer ${token}` },
    redirect: 'error',
    signal,
  });
  if (!response.ok) throw new ProviderFault(`did not confirm the account (status ${response.status})`);
  const { id, display_name: displayName, username } = parseJson(await response.text()) ?? {};
  if (!accountName(undefined, username)) throw new ProviderFault('sent an account without a user name');
  return { name: accountName(displayName, username), subject: String(id) };
}

/**
 * @param {oauth.AuthorizationServer} server
 * @param {string} redirectUri
 * @returns {Application | undefined}
 */
function keptApplication(server, redirectUri) {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(server, redirectUri)) ?? 'null');
    return isApplication(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether an instance still knows an application; it removes those without users after a time.
 *
 * @param {oauth.AuthorizationServer} server
 * @param {Application} application
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>}
 * @throws {ProviderFault} if the instance cannot say
 */
async function isKnown(server, { clientId, clientSecret, scope }, signal) {
  const client = { client_id: clientId };
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    oauth.ClientSecretPost(clientSecret),
    { scope },
    requestOptions(server.issuer, signal),
  );
  if (response.ok) return true;
  if (unusable.includes(parseJson(await response.text())?.error)) return false;
  throw new ProviderFault(`cannot sign you in now (status ${response.status})`);
}

/**
 * @param {oauth.AuthorizationServer} server
 * @param {AbortSignal} signal
 * @returns {Promise<readonly string[]>}
 */
async function scopesToTry({ issuer }, signal) {
  try {
    const response = await limitedFetch(`${issuer}/.well-known/oauth-authorization-server`, { signal });
    const { scopes_supported: scopes } = await response.json();
    return Array.isArray(scopes) && scopes.includes(narrowScope) ? [narrowScope, widerScope] : [widerScope];
  } catch {
    // Older releases have no such document. After a timeout, the registration fails with the same signal.
    return [widerScope];
  }
}

/**
 * @param {oauth.AuthorizationServer} server
 * @param {string} redirectUri
 * @param {string} scope
 * @param {AbortSignal} signal
 * @returns {Promise<Application | undefined>} undefined if refused
 */
async function register({ issuer }, redirectUri, scope, signal) {
  const body = new URLSearchParams({
    client_name: siteName(),
    redirect_uris: redirectUri,
    scopes: scope,
    website: location.origin,
  });
  const response = await limitedFetch(`${issuer}/api/v1/apps`, { method: 'POST', body, signal });
  if ([400, 422].includes(response.status)) return undefined;
  if (!response.ok) throw new ProviderFault(`did not register this site as an application (status ${response.status})`);
  const { client_id: clientId, client_secret: clientSecret } = parseJson(await response.text()) ?? {};
  const application = { clientId, clientSecret, scope };
  if (!isApplication(application)) throw new ProviderFault('sent an invalid response to the registration of this site');
  return application;
}

function siteName() {
  const name = document.querySelector('meta[name=application-name]')?.getAttribute('content');
  return name?.slice(0, maxName) || location.host;
}

/**
 * @param {oauth.AuthorizationServer} server
 * @param {string} redirectUri
 */
function keyOf({ issuer }, redirectUri) {
  return `echodrop.application ${issuer} ${redirectUri}`;
}
