import type { Session } from './page-settings.ts';
import { pageSettings } from './page-settings.ts';

/** What pages show of the session, in the storage that all tabs share. The token is in the gateway's cookie, which no script reads. */
const key = 'echodrop.session';
const endMs = 10_000;

/** @returns undefined also if the site no longer offers the session's provider, or if its token has expired */
export function currentSession(): Session | undefined {
  try {
    const session = JSON.parse(localStorage.getItem(key) ?? 'null');
    const fields = [session?.id, session?.provider, session?.providerName, session?.name, session?.publicName];
    const isOffered = pageSettings().providers.some((each) => each.provider === session?.provider);
    const isExpired = session?.expiresAt < Date.now();
    return isOffered && !isExpired && fields.every((field) => typeof field === 'string') ? session : undefined;
  } catch {
    // No JSON, or a browser that allows no storage.
    return undefined;
  }
}

export function keepSession(session: Session) {
  localStorage.setItem(key, JSON.stringify(session));
}

/** Shows all tabs as signed out. The cookie stays until the next sign-in: use it if the token is useless. */
export function forgetSession() {
  localStorage.removeItem(key);
}

/** Calls `listener` when another tab may have changed the session. Browsers report nothing to a page that they have stopped. */
export function onSessionChange(listener: () => void) {
  window.addEventListener('storage', (event) => {
    if (event.key === key || event.key === null) listener();
  });
  document.addEventListener('visibilitychange', listener);
}

/** Ends the session in all tabs. @returns whether the provider confirmed that the token is revoked */
export async function signOut(): Promise<boolean> {
  const application = currentSession()?.application;
  const response = await fetch(`${pageSettings().upload}/2/session`, {
    method: 'DELETE',
    credentials: 'include',
    headers: { 'X-Echodrop-Session': '1', 'Content-Type': 'application/json' },
    body: JSON.stringify(application ?? {}),
    signal: AbortSignal.timeout(endMs),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  forgetSession();
  // Unfinished uploads of the upload page contain captions.
  localStorage.removeItem('echodrop.unfinished');
  const { isRevoked } = await response.json();
  return isRevoked === true;
}
