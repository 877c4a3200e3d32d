import { element } from '/scripts/elements.js';
import { forgetSession } from '/sign-in/session.js';

/** Shows in an alert that the sign-in has expired, with a button that leads back to the sign-in buttons. */
export function showSignInExpired(place: HTMLElement) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.textContent = 'Sign in again';
  button.addEventListener('click', () => {
    // The token is not revoked: the provider has just refused it.
    forgetSession();
    location.reload();
  });
  element('signed-in', HTMLElement).hidden = true;
  place.replaceChildren('Your sign-in has expired. ', button);
}
