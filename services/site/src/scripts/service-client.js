// @ts-check
import { pageSettings } from '/sign-in/page-settings.js';
import { checkAddress, EchodropClient, RequestRefused, UnreadableResponse } from './client.js';

/**
 * A client of the gateway for the user who has signed in. It repeats nothing: the person presses the button again.
 *
 * @param {import('/sign-in/page-settings.js').Session} session
 */
export function clientOf({ provider, token }) {
  return new EchodropClient({ service: pageSettings().upload, provider, credentials: { bearer: token }, retries: 0 });
}

/**
 * Whether the provider no longer accepts the credentials.
 *
 * @param {unknown} error of a client
 */
export function isSignInExpired(error) {
  return error instanceof RequestRefused && error.status === 401 && error.reason === 'credentials_refused';
}

/**
 * Why the gateway, or a proxy, gave no usable response. Only programs can choose another address.
 *
 * @param {unknown} error of a client
 * @returns {string | undefined} undefined if there was no response
 */
export function refusalText(error) {
  if (error instanceof UnreadableResponse) return 'Unexpected response from the server.';
  return error instanceof RequestRefused ? error.message.replace(` ${checkAddress}`, '') : undefined;
}
