import type { Application } from '/scripts/sign-in-client.js';
import {
  authenticationOf,
  clientCredentialsGrantRequest,
  defaultScopes,
  isApplication,
  mastodonServer,
  parseJson,
  registerApplication,
} from '/scripts/sign-in-client.js';
import { ProviderFault } from './fault.ts';
import type { MastodonProvider } from './page-settings.ts';
import { optionsFor } from './provider-client.ts';

// Mastodon accepts no longer name of an application.
const maxName = 60;
// RFC 6749, section 5.2: the client is unknown, or was registered for something else.
const unusable = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

/** The application of this site at an instance: the one that this browser keeps if the instance still knows it, or a new one. */
export async function requireApplication(
  provider: MastodonProvider,
  redirectUri: string,
  signal: AbortSignal,
): Promise<Application> {
  const { scope } = provider;
  const scopes: readonly string[] = scope === undefined ? defaultScopes.mastodon : [scope];
  const server = mastodonServer(provider.provider);
  const key = `echodrop.application ${server.issuer} ${redirectUri}`;
  const kept = keptApplication(key);
  // An earlier setting may have registered more scopes.
  if (kept && scopes.includes(kept.scope) && (await isKnown(provider, kept, signal))) return kept;
  const website = location.origin;
  const application = await registerApplication(server, { name: siteName(), redirectUri, website, scopes }, signal);
  keepApplication(key, application);
  return application;
}

/** If storage is full or blocked, the next sign-in registers again. */
function keepApplication(key: string, application: Application) {
  try {
    localStorage.setItem(key, JSON.stringify(application));
  } catch {}
}

function keptApplication(key: string): Application | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null');
    return isApplication(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an instance still knows an application; it removes those without users after a time. @throws ProviderFault if the instance cannot say */
async function isKnown(
  provider: MastodonProvider,
  { clientId, clientSecret, scope }: Application,
  signal: AbortSignal,
): Promise<boolean> {
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

function siteName() {
  const name = document.querySelector('meta[name=application-name]')?.getAttribute('content');
  return name?.slice(0, maxName) || location.host;
}
