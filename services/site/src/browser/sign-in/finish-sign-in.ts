import { element, partOf } from '/scripts/elements.js';
import { returnPath, takeAttempt } from './attempt.ts';
import { faultMessage, SignInFault } from './fault.ts';
import { pageSettings } from './page-settings.ts';
import { keepSession } from './session.ts';
import { completeSignIn } from './sign-in.ts';

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
    keepSession(await completeSignIn(response, attempt, provider));
    location.replace(returnTo);
  } catch (error) {
    showFault(faultMessage(error, name), returnTo);
  }
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
