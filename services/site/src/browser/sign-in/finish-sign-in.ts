import { element, partOf } from '/scripts/elements.js';
import { returnPath, takeAttempt } from './attempt.ts';
import { faultMessage, SignInFault } from './fault.ts';
import { keepFileToken } from './file-token.ts';
import { pageSettings } from './page-settings.ts';
import { beginSession, completeSignIn } from './sign-in.ts';

// Browsers drop the oldest entries of a longer history.
const maxEntries = 50;
const backMs = 3000;

const progress = element('sign-in-progress', HTMLElement);

/** Completes the sign-in and returns to the page where it began, or shows why it failed. */
export async function finishSignIn(response: URLSearchParams) {
  const attempt = takeAttempt();
  const provider = pageSettings().providers.find((each) => each.provider === attempt?.provider);
  const name = provider?.name ?? 'The provider';
  progress.textContent = `Signing in with ${name}.`;
  const returnTo = returnPath(attempt?.returnTo ?? '');
  try {
    if (!attempt || !provider) throw new SignInFault('No sign-in is in progress in this tab.');
    // A provider that forwards the user to another one must not get the code of the other one.
    if (provider.redirectPath !== location.pathname)
      throw new SignInFault('This response is from another provider, so it was ignored.');
    const signedIn = await completeSignIn(response, attempt, provider);
    if (attempt.purpose === 'files') keepFileToken({ ...signedIn, provider: provider.provider });
    else await beginSession(provider, signedIn);
    leave(attempt.entries, returnTo);
  } catch (error) {
    showFault(faultMessage(error, name), returnTo);
  }
}

/** Goes back to the page where the sign-in began, so that the browser's Back does not lead to the provider. */
function leave(entries: number, returnTo: string) {
  const isKnown = history.length < maxEntries && history.length >= entries;
  if (!isKnown) return location.replace(returnTo);
  history.go(entries - 1 - history.length);
  setTimeout(() => location.replace(returnTo), backMs);
}

function showFault(sentence: string, returnTo: string) {
  progress.textContent = '';
  element('sign-in-fault', HTMLElement).textContent = sentence;
  const again = element('sign-in-again', HTMLElement);
  again.hidden = false;
  const back = partOf(again, 'a', HTMLAnchorElement);
  back.href = returnTo;
  back.focus();
}
