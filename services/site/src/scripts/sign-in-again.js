// @ts-check
import { forgetSession } from '/sign-in/session.js';

/**
 * Shows that the sign-in has expired, and a button that leads back to the sign-in buttons.
 *
 * @param {HTMLElement} place an alert
 * @param {string} [more] what else to know before
 */
export function showSignInExpired(place, more = '') {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.textContent = 'Sign in again';
  button.addEventListener('click', () => {
    // Not revoked: the provider has just refused the token.
    forgetSession();
    // The alert said what is lost. A person who stays on the page would be signed out on it.
    window.onbeforeunload = null;
    location.reload();
  });
  place.replaceChildren(`Your sign-in has expired.${more} `, button);
}
