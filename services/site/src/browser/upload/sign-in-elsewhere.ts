import { element, partOf } from '/scripts/elements.js';
import { setSessionAtStart } from '/sign-in/buttons.js';
import { currentSession, forgetSession, keepSession } from '/sign-in/session.js';

const channelName = 'echodrop.sign-in';
// In the tab that signs in: the id of the tab that waits for a session.
const key = 'echodrop.sign-in-for';

let isPending = false;

/** Whether the sign-in has expired, and the user has not signed in again. */
export function isSignInPending() {
  return isPending;
}

/**
 * Shows in an alert that the sign-in has expired, and a link to sign in again in a new tab, which hands over its session. The redirect to
 * the provider would lose the chosen files of this tab. Only a tab that opened the link is heard.
 */
export function showSignInElsewhere(alert: HTMLElement, onSignedIn: (name: string, isSameUser: boolean) => void) {
  // Several uploads may find it at once.
  if (isPending) return;
  isPending = true;
  const before = currentSession();
  const id = crypto.randomUUID();
  const channel = new BroadcastChannel(channelName);
  // Phones stop tabs in the background, so an offer may have been missed.
  const ask = () => channel.postMessage({ asks: id });
  document.addEventListener('visibilitychange', ask);
  channel.addEventListener('message', ({ data }) => {
    if (data?.offers !== id) return;
    const { name, subject, provider, providerName } = data.session;
    keepSession(data.session);
    channel.postMessage({ took: id });
    channel.close();
    document.removeEventListener('visibilitychange', ask);
    isPending = false;
    alert.replaceChildren();
    setSessionAtStart();
    element('signed-in-name', HTMLElement).textContent = name;
    element('signed-in-at', HTMLElement).textContent = providerName;
    onSignedIn(name, subject === before?.subject && provider === before?.provider);
  });
  const link = document.createElement('a');
  link.href = `${location.pathname}#sign-in-for=${id}`;
  link.target = '_blank';
  // The new tab starts without this tab's storage.
  link.rel = 'noopener';
  link.textContent = 'Sign in again in a new tab';
  alert.replaceChildren('Your sign-in has expired. ', link, '. Your files and texts stay here.');
}

/** In a tab that such a link opened: says what to do, hands the session over, unless this tab has files of its own by now, and forgets it. */
export function signInForOtherTab(say: (sentence: string) => void, isInUse: () => boolean) {
  const id = requesterId();
  if (!id) return;
  const channel = new BroadcastChannel(channelName);
  const offer = () => {
    const session = currentSession();
    if (session && !isInUse()) channel.postMessage({ offers: id, session });
  };
  channel.addEventListener('message', ({ data }) => {
    if (data?.asks === id) return offer();
    if (data?.took !== id) return;
    forgetSession();
    sessionStorage.removeItem(key);
    channel.close();
    const sentence = document.createElement('p');
    sentence.textContent = 'The tab with your files is signed in. Go back to it. You can close this one.';
    const page = partOf(document, '.upload', HTMLElement);
    page.replaceChildren(partOf(page, 'h1', HTMLElement), sentence);
  });
  say(
    currentSession() ? 'Signed in. Go back to the tab with your files.' : 'Sign in here for the tab with your files.',
  );
  offer();
}

/** The tab for which this one signs in. The id survives the redirect to the provider and back. */
function requesterId() {
  try {
    const id = new URLSearchParams(location.hash.slice(1)).get('sign-in-for');
    if (!id) return sessionStorage.getItem(key);
    history.replaceState(history.state, '', location.pathname);
    sessionStorage.setItem(key, id);
    return id;
  } catch {
    // A browser that allows no storage cannot sign in.
    return null;
  }
}
