import { partOf } from '/scripts/elements.js';
import type { Session } from '/sign-in/page-settings.js';
import { currentSession, forgetSession } from '/sign-in/session.js';

// In the tab that signs in for another one. It survives the redirect to the provider and back.
const key = 'echodrop.sign-in-for';
const mark = '#sign-in-for-other-tab';

/** Who was signed in when the session ended, while the user has not signed in again. */
let ended: { session: Session | undefined } | undefined;

/** Whether the session has ended, and the user has not signed in again. */
export function isSignInPending() {
  return ended !== undefined;
}

/** Shows in an alert that the session has ended, and a link to sign in again in a new tab. The redirect to the provider would lose the chosen files of this tab. */
export function showSignInElsewhere(alert: HTMLElement, why: string, session = currentSession()) {
  // Several uploads may find it at once.
  if (ended) return;
  ended = { session };
  forgetSession();
  const link = document.createElement('a');
  link.href = location.pathname + mark;
  link.target = '_blank';
  // The new tab starts without this tab's storage.
  link.rel = 'noopener';
  link.textContent = 'Sign in again in a new tab';
  alert.replaceChildren(`${why} `, link, '. Your files and texts stay here.');
}

/** After another tab has signed in: removes the alert. @returns whether the same user is signed in as before */
export function endSignInElsewhere(alert: HTMLElement, { provider, subject }: Session): boolean {
  const before = ended?.session;
  ended = undefined;
  alert.replaceChildren();
  return subject === before?.subject && provider === before?.provider;
}

/** In a tab that such a link opened: says what to do. */
export function signInForOtherTab(say: (sentence: string) => void) {
  if (!isForOtherTab()) return;
  if (!currentSession()) return say('Sign in here for the tab with your files.');
  sessionStorage.removeItem(key);
  const sentence = document.createElement('p');
  sentence.textContent = 'The tab with your files is signed in. Go back to it. You can close this one.';
  const page = partOf(document, '.upload', HTMLElement);
  page.replaceChildren(partOf(page, 'h1', HTMLElement), sentence);
}

function isForOtherTab() {
  try {
    if (location.hash === mark) {
      history.replaceState(history.state, '', location.pathname);
      sessionStorage.setItem(key, '1');
    }
    return sessionStorage.getItem(key) !== null;
  } catch {
    // A browser that allows no storage cannot sign in.
    return false;
  }
}
