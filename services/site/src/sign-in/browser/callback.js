// @ts-check
import { returnPath, takeAttempt } from './attempt.js';
import { pageSettings } from './page-settings.js';
import { keepSession } from './session.js';

const response = new URLSearchParams(location.search);
// The code stays in no history and no bookmark.
history.replaceState(null, '', location.pathname);
const progress = document.getElementById('sign-in-progress');
const attempt = takeAttempt();
const provider = pageSettings().providers.find((each) => each.provider === attempt?.provider);
const name = provider?.name ?? 'The provider';
if (progress) progress.textContent = `Signing in with ${name}.`;

const scripts = await Promise.all([import('./sign-in.js'), import('./fault.js')]).catch(() => undefined);
if (scripts) await complete(...scripts);
else showFault('The connection was lost. Try again.');

/**
 * @param {typeof import('./sign-in.js')} signIn
 * @param {typeof import('./fault.js')} fault
 */
async function complete({ completeSignIn }, { faultMessage, SignInFault }) {
  try {
    if (!attempt || !provider) throw new SignInFault('No sign-in is in progress in this tab.');
    // A provider that forwards the user to another one must not get the code of the other one.
    if (provider.redirectPath !== location.pathname)
      throw new SignInFault('This response is from another provider, so it was ignored.');
    keepSession(await completeSignIn(response, attempt, provider));
    location.replace(returnPath(attempt.returnTo));
  } catch (error) {
    showFault(faultMessage(error, name));
  }
}

/** @param {string} sentence */
function showFault(sentence) {
  const [fault, again] = ['sign-in-fault', 'sign-in-again'].map((id) => document.getElementById(id));
  if (progress) progress.textContent = '';
  if (fault) fault.textContent = sentence;
  if (again) again.hidden = false;
  const back = again?.querySelector('a');
  if (!back) return;
  back.href = returnPath(attempt?.returnTo ?? '');
  back.focus();
}
