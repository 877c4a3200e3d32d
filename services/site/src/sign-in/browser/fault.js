// @ts-check
import {
  AuthorizationResponseError,
  OperationProcessingError,
  RegistrationFailed,
  ResponseBodyError,
  UnreadableResponse,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from '/scripts/sign-in-client.js';

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
  const fault = providerFaultOf(error);
  if (fault) return `${name} ${fault}. ${advice}`;
  if (isTimeout(error)) return `${name} did not respond in time. Try again later.`;
  if (error instanceof AuthorizationResponseError) {
    if (error.error === 'access_denied') return `You did not allow access at ${name}. You are not signed in.`;
    return `${name} refused the sign-in: ${detailOf(error)}`;
  }
  if (error instanceof ResponseBodyError) {
    if (error.error === 'invalid_grant') return 'This sign-in has expired or was used already. Sign in again.';
    return `${name} refused the sign-in: ${detailOf(error)}`;
  }
  if (error instanceof WWWAuthenticateChallengeError) return `${name} refused the sign-in. ${advice}`;
  if (error instanceof DOMException) return 'This browser blocks storage for this site. Allow it to sign in.';
  // What `fetch` throws, without a reason.
  if (error instanceof TypeError)
    return `${name} cannot be reached from this page: it is down, or does not allow requests from this site. ${advice}`;
  return `Signing in with ${name} failed unexpectedly: ${error}. ${advice}`;
}

/**
 * What a provider did wrong, without a full stop; undefined if the error is another one.
 *
 * @param {unknown} error
 */
function providerFaultOf(error) {
  if (error instanceof ProviderFault) return error.message;
  if (error instanceof RegistrationFailed) return registrationFaultOf(error);
  if (error instanceof UnreadableResponse) return 'sent a response above 1 MiB';
  if (isTimeout(error)) return undefined;
  if (error instanceof OperationProcessingError || error instanceof UnsupportedOperationError)
    return responseFaultOf(error);
  return undefined;
}

/** @param {RegistrationFailed} failure */
function registrationFaultOf({ status }) {
  if (status === undefined) return 'sent an invalid response to the registration of this site';
  const isRefusal = [400, 422].includes(status);
  return `did not register this site as an application${isRefusal ? '' : ` (status ${status})`}`;
}

/** @param {OperationProcessingError | UnsupportedOperationError} error */
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
