import { returnPath, takeAttempt } from './attempt.ts';
import { faultMessage, SignInFault } from './fault.ts';
import { pageSettings } from './page-settings.ts';
import { keepSession } from './session.ts';
import { completeSignIn } from './sign-in.ts';

const progress = document.getElementById('sign-in-progress');

/** Completes the sign-in and returns to the page where it began, or shows why it failed. */
export async function finishSignIn(response: URLSearchParams) {
  const attempt = takeAttempt();
  const provider = pageSettings().providers.find((each) => each.provider === attempt?.provider);
  const name = provider?.name ?? 'The provider';
  if (progress) progress.textContent = `Signing in with ${name}.`;
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
  const [fault, again] = ['sign-in-fault', 'sign-in-again'].map((id) => document.getElementById(id));
  if (progress) progress.textContent = '';
  if (fault) fault.textContent = sentence;
  if (again) again.hidden = false;
  const back = again?.querySelector('a');
  if (!back) return;
  back.href = returnTo;
  back.focus();
}
