// @ts-check
import * as oauth from './oauth4webapi/build/index.js';

/** A failure whose message is for the user. */
export class SignInFault extends Error {}

const maxDetail = 200;

/**
 * Why a sign-in failed, and what helps.
 *
 * @param {unknown} error
 * @param {string} name of the provider
 * @returns {string}
 */
export function faultMessage(error, name) {
  if (error instanceof SignInFault) return error.message;
  if (error instanceof oauth.AuthorizationResponseError) {
    if (error.error === 'access_denied') return `You did not allow access at ${name}. You are not signed in.`;
    return `${name} refused the sign-in: ${detailOf(error)}`;
  }
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'invalid_grant') return `This sign-in has expired or was used already.`;
    return `${name} refused the sign-in: ${detailOf(error)}`;
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return `${name} refused the sign-in.`;
  if (error instanceof DOMException && error.name === 'TimeoutError') return `${name} did not respond in time.`;
  if (error instanceof DOMException) return 'This browser blocks storage for this site. Allow it to sign in.';
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return `${name} sent an invalid response: ${error.message}.`;
  // What `fetch` throws, without a reason.
  if (error instanceof TypeError)
    return `${name} cannot be reached from this page: it is down, or does not allow requests from this site.`;
  return `Sign-in failed: ${error}`;
}

/** @param {{ error: string, error_description?: string }} refusal text of the provider */
function detailOf({ error, error_description }) {
  return (error_description ?? error).slice(0, maxDetail);
}
