// @ts-check
import * as oauth from './oauth4webapi/build/index.js';

/** A failure whose message is for the user. */
export class SignInFault extends Error {}

/** What a provider did wrong. The message continues its name, and has no full stop. */
export class ProviderFault extends Error {}

const maxDetail = 200;
const advice = 'Try again later. If it fails again, report it to the operator of this site.';

/**
 * Why a sign-in failed, and what helps.
 *
 * @param {unknown} error
 * @param {string} name of the provider
 * @returns {string}
 */
export function faultMessage(error, name) {
  if (error instanceof SignInFault) return error.message;
  if (error instanceof ProviderFault) return `${name} ${error.message}. ${advice}`;
  if (isTimeout(error)) return `${name} did not respond in time. Try again later.`;
  if (error instanceof oauth.AuthorizationResponseError) {
    if (error.error === 'access_denied') return `You did not allow access at ${name}. You are not signed in.`;
    return `${name} refused the sign-in: ${detailOf(error)}`;
  }
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'invalid_grant') return 'This sign-in has expired or was used already. Sign in again.';
    return `${name} refused the sign-in: ${detailOf(error)}`;
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return `${name} refused the sign-in. ${advice}`;
  if (error instanceof DOMException) return 'This browser blocks storage for this site. Allow it to sign in.';
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return `${name} ${responseFaultOf(error)}. ${advice}`;
  // What `fetch` throws, without a reason.
  if (error instanceof TypeError)
    return `${name} cannot be reached from this page: it is down, or does not allow requests from this site. ${advice}`;
  return `Signing in with ${name} failed unexpectedly: ${error}. ${advice}`;
}

/** @param {oauth.OperationProcessingError | oauth.UnsupportedOperationError} error */
function responseFaultOf({ cause, message }) {
  const isRefusal = cause instanceof Response && !cause.ok;
  return isRefusal ? `responded with status ${cause.status}` : `sent an invalid response: ${message}`;
}

/**
 * The library wraps what ends the reading of a response.
 *
 * @param {unknown} error
 */
function isTimeout(error) {
  return [error, error instanceof Error ? error.cause : undefined].some(
    (each) => each instanceof DOMException && each.name === 'TimeoutError',
  );
}

/** @param {{ error: string, error_description?: unknown }} refusal text of the provider */
function detailOf({ error, error_description: description }) {
  return (typeof description === 'string' ? description : error).slice(0, maxDetail);
}
