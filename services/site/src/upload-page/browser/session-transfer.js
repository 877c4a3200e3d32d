// @ts-check
import { currentSession, forgetSession, keepSession } from '/sign-in/session.js';

/** @import { Session } from '/sign-in/page-settings.js' */

const channelName = 'echodrop.sign-in';
// Of the tab that waits for a session, in the tab that signs in for it.
const key = 'echodrop.sign-in-for';

/** @type {string | undefined} */
let ownId;

/**
 * The address of a page that signs in for this tab, and then hands over its session. Only a tab that opened this address is heard.
 *
 * @param {(session: Session) => void} onSession
 */
export function requestSession(onSession) {
  const address = (/** @type {string} */ id) => `${location.pathname}#sign-in-for=${id}`;
  if (ownId !== undefined) return address(ownId);
  const id = crypto.randomUUID();
  ownId = id;
  const channel = new BroadcastChannel(channelName);
  // Phones stop tabs in the background, so an offer may have been missed.
  const ask = () => channel.postMessage({ asks: id });
  document.addEventListener('visibilitychange', ask);
  channel.addEventListener('message', ({ data }) => {
    if (data?.offers !== id) return;
    keepSession(data.session);
    channel.postMessage({ took: id });
    channel.close();
    document.removeEventListener('visibilitychange', ask);
    ownId = undefined;
    onSession(data.session);
  });
  return address(id);
}

/**
 * Hands the session of this tab over to the tab that requested it, if one did, and forgets it here.
 *
 * @param {{ isInUse: () => boolean, onWait: (isSignedIn: boolean) => void, onTaken: () => void }} options
 */
export function handOverSession({ isInUse, onWait, onTaken }) {
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
    onTaken();
  });
  onWait(currentSession() !== undefined);
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
