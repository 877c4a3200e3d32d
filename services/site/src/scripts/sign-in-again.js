// @ts-check
import { element } from '/scripts/elements.js';
import { forgetSession } from '/sign-in/session.js';

/**
 * Shows that the sign-in has expired, and a button that leads back to the sign-in buttons.
 *
 * @param {HTMLElement} place an alert
 */
export function showSignInExpired(place) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.textContent = 'Sign in again';
  button.addEventListener('click', () => {
    // Not revoked: the provider has just refused the token.
    forgetSession();
    location.reload();
  });
  element('signed-in', HTMLElement).hidden = true;
  place.replaceChildren('Your sign-in has expired. ', button);
}
