import type { Session } from './page-settings.ts';
import { pageSettings } from './page-settings.ts';

const key = 'echodrop.session';

/** @returns undefined also if the site no longer offers its provider, or if it is a copy of another tab's */
export function currentSession(): Session | undefined {
  try {
    const session = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    const fields = [session?.provider, session?.providerName, session?.token, session?.name];
    const isOffered = pageSettings().providers.some((each) => each.provider === session?.provider);
    // A window that this tab opens gets a copy of `sessionStorage`, but not the name.
    const isCopy = session !== null && (!window.name || session.tab !== window.name);
    if (isCopy) sessionStorage.removeItem(key);
    return !isCopy && isOffered && fields.every((field) => typeof field === 'string') ? session : undefined;
  } catch {
    // No JSON, or a browser that allows no storage.
    return undefined;
  }
}

export function keepSession(session: Session) {
  window.name = crypto.randomUUID();
  sessionStorage.setItem(key, JSON.stringify({ ...session, tab: window.name }));
}

export function forgetSession() {
  sessionStorage.removeItem(key);
}

/** Ends the session. Revokes its token if the provider can, within a few seconds. @returns whether the token is revoked */
export async function signOut(): Promise<boolean> {
  const session = currentSession();
  forgetSession();
  // Unfinished uploads of the upload page contain captions.
  localStorage.removeItem('echodrop.unfinished');
  const provider = pageSettings().providers.find((each) => each.provider === session?.provider);
  if (!session || !provider) return false;
  try {
    const { revokeSession } = await import('./provider-client.ts');
    return await revokeSession(provider, session);
  } catch {
    return false;
  }
}
