// @ts-check
import { element, partOf } from '/scripts/elements.js';
import { setSessionAtStart } from '/sign-in/buttons.js';
import { currentSession } from '/sign-in/session.js';
import { handOverSession, requestSession } from './session-transfer.js';

let isPending = false;

/** Whether the sign-in has expired, and the user has not signed in again. */
export function isSignInPending() {
  return isPending;
}

/**
 * Shows that the sign-in has expired, and a link to sign in again in a new tab. The redirect to the provider would lose the chosen files of this one.
 *
 * @param {HTMLElement} place an alert
 * @param {(name: string, isSameUser: boolean) => void} onSignedIn
 */
export function showSignInElsewhere(place, onSignedIn) {
  // Several uploads may find it at once.
  if (isPending && place.querySelector('a')) return;
  isPending = true;
  const before = currentSession();
  const link = document.createElement('a');
  link.href = requestSession(({ name, subject, provider, providerName }) => {
    isPending = false;
    place.replaceChildren();
    setSessionAtStart();
    element('signed-in-name', HTMLElement).textContent = name;
    element('signed-in-at', HTMLElement).textContent = providerName;
    onSignedIn(name, subject === before?.subject && provider === before?.provider);
  });
  link.target = '_blank';
  // The new tab starts without this tab's storage.
  link.rel = 'noopener';
  link.textContent = 'Sign in again in a new tab';
  place.replaceChildren('Your sign-in has expired. ', link, '. Your files and texts stay here.');
}

/**
 * In a tab that such a link opened: says what to do, and hands over the session.
 *
 * @param {(sentence: string) => void} say
 * @param {() => boolean} isInUse whether this tab has files of its own by now
 */
export function signInForOtherTab(say, isInUse) {
  handOverSession({
    isInUse,
    onWait: (isSignedIn) =>
      say(isSignedIn ? 'Signed in. Go back to the tab with your files.' : 'Sign in here for the tab with your files.'),
    onTaken() {
      const sentence = document.createElement('p');
      sentence.textContent = 'The tab with your files is signed in. Go back to it. You can close this one.';
      const page = partOf(document, '.upload', HTMLElement);
      page.replaceChildren(partOf(page, 'h1', HTMLElement), sentence);
    },
  });
}
