import { pageSettings } from './page-settings.ts';
import { currentSession, signOut } from './session.ts';

const { providers } = pageSettings();
const leavingMs = 5000;
let leaving = 0;

const buttons: NodeListOf<HTMLButtonElement> = document.querySelectorAll('button[data-sign-in]');
for (const button of buttons) button.addEventListener('click', () => void start(button));

const out = document.getElementById('sign-out');
out?.addEventListener('click', async () => {
  if (!navigator.onLine) return showText('sign-in-news', 'You are offline. Sign out when the connection is back.');
  // A page with something to lose may prevent it.
  if (!window.dispatchEvent(new Event('sign-out', { cancelable: true }))) return;
  out.setAttribute('disabled', '');
  showText('sign-in-news', 'Signing out.');
  const isRevoked = await signOut();
  const more = isRevoked
    ? ''
    : ' The provider did not revoke the token, which stays valid until it expires or you revoke it there.';
  // This text survives the reload, unlike a text of the page.
  history.replaceState({ signedOut: `Signed out.${more}` }, '');
  location.reload();
});

let tokenAtStart = currentSession()?.token;
showState();
if (history.state?.signedOut) {
  showText('sign-in-news', history.state.signedOut);
  history.replaceState(null, '');
}
// After "back" the page is as it was left, with what it showed to the person who was signed in then.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  if (currentSession()?.token === tokenAtStart) return showState();
  document.body.replaceChildren();
  location.reload();
});

/** After another sign-in without a reload: the browser's Back must not discard the page. */
export function setSessionAtStart() {
  tokenAtStart = currentSession()?.token;
}

async function start(button: HTMLButtonElement) {
  const provider = providers[Number(button.dataset['signIn'])];
  if (!provider || button.getAttribute('aria-disabled') === 'true') return;
  setBusy(true);
  showText('sign-in-fault');
  showText('sign-in-news', `Contacting ${provider.name}.`);
  try {
    const { beginSignIn } = await import('./sign-in.ts');
    await beginSignIn(provider, location.pathname);
    // The browser may ask before it leaves a page with texts, and the person may stay.
    leaving = setTimeout(() => {
      setBusy(false);
      showText('sign-in-news', `If ${provider.name} does not appear, try again.`);
    }, leavingMs);
  } catch (error) {
    // Without a connection, the scripts cannot be loaded either. Browsers may repeat a failed import only after a reload.
    const faults = await import('./fault.ts').catch(() => undefined);
    setBusy(false);
    showText('sign-in-news');
    showText(
      'sign-in-fault',
      faults?.faultMessage(error, provider.name) ?? 'This page could not load its scripts. Reload it.',
    );
  }
}

function showState() {
  clearTimeout(leaving);
  const session = currentSession();
  const ways = document.getElementById('sign-in-ways');
  const signedIn = document.getElementById('signed-in');
  if (ways) ways.hidden = session !== undefined;
  if (signedIn) signedIn.hidden = session === undefined;
  showText('signed-in-name', session?.name);
  showText('signed-in-at', session?.providerName);
  showText('sign-in-news');
  setBusy(false);
}

function setBusy(isBusy: boolean) {
  // Unlike `disabled`, this keeps the focus.
  for (const button of buttons) button.setAttribute('aria-disabled', String(isBusy));
}

function showText(id: string, text: string = '') {
  const place = document.getElementById(id);
  if (place) place.textContent = text;
}
