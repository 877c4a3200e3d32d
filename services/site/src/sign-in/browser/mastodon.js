// @ts-check
import {
  authenticationOf,
  clientCredentialsGrantRequest,
  defaultScopes,
  isApplication,
  limitedFetch,
  mastodonServer,
  parseJson,
  registerApplication,
} from '/scripts/sign-in-client.js';
import { ProviderFault } from './fault.js';
import { optionsFor } from './provider-client.js';

/** @import { Application } from '/scripts/sign-in-client.js' */
/** @import { MastodonProvider } from './page-settings.js' */

// Of the name of an application, at Mastodon.
const maxName = 60;
// RFC 6749, section 5.2: the client is unknown, or was registered for something else.
const unusable = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

/**
 * The application of this site at an instance: the one that this browser keeps if the instance still knows it, or a new one.
 *
 * @param {MastodonProvider} provider
 * @param {string} redirectUri
 * @param {AbortSignal} signal
 * @returns {Promise<Application>}
 */
export async function requireApplication(provider, redirectUri, signal) {
  const { scope } = provider;
  const server = mastodonServer(provider.provider);
  const key = `echodrop.application ${server.issuer} ${redirectUri}`;
  const kept = keptApplication(key);
  // An earlier setting may have registered more.
  const isFit =
    kept &&
    (scope === undefined ? /** @type {readonly string[]} */ (defaultScopes.mastodon) : [scope]).includes(kept.scope);
  if (isFit && (await isKnown(provider, kept, signal))) return kept;
  const scopes = scope === undefined ? await scopesToTry(server.issuer, signal) : [scope];
  const website = location.origin;
  const application = await registerApplication(server, { name: siteName(), redirectUri, website, scopes }, signal);
  keepApplication(key, application);
  return application;
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
 * @param {string} key
 * @returns {Application | undefined}
 */
function keptApplication(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null');
    return isApplication(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether an instance still knows an application; it removes those without users after a time.
 *
 * @param {MastodonProvider} provider
 * @param {Application} application
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>}
 * @throws {ProviderFault} if the instance cannot say
 */
async function isKnown(provider, { clientId, clientSecret, scope }, signal) {
  const response = await clientCredentialsGrantRequest(
    mastodonServer(provider.provider),
    { client_id: clientId },
    authenticationOf(clientSecret),
    { scope },
    optionsFor(provider, signal),
  );
  if (response.ok) return true;
  if (unusable.includes(String(parseJson(await response.text())?.['error']))) return false;
  throw new ProviderFault(`cannot sign you in now (status ${response.status})`);
}

/**
 * The default scopes that an instance may have. Some software registers any scope, and refuses it later.
 *
 * @param {string} issuer
 * @param {AbortSignal} signal
 * @returns {Promise<readonly string[]>}
 */
async function scopesToTry(issuer, signal) {
  const [narrow, wider] = defaultScopes.mastodon;
  try {
    const response = await limitedFetch(`${issuer}/.well-known/oauth-authorization-server`, { signal });
    const { scopes_supported: scopes } = await response.json();
    return Array.isArray(scopes) && scopes.includes(narrow) ? [narrow, wider] : [wider];
  } catch {
    // Older releases have no such document. After a timeout, the registration fails with the same signal.
    return [wider];
  }
}

function siteName() {
  const name = document.querySelector('meta[name=application-name]')?.getAttribute('content');
  return name?.slice(0, maxName) || location.host;
}
