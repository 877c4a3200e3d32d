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

/** Why a sign-in at the provider `name` failed, and what helps. */
export function faultMessage(error: unknown, name: string): string {
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
  // `fetch` throws this error, without a reason.
  if (error instanceof TypeError)
    return `${name} cannot be reached from this page: it is down, or does not allow requests from this site. ${advice}`;
  return `Signing in with ${name} failed unexpectedly: ${error}. ${advice}`;
}

/** What a provider did wrong, without a full stop; undefined if the error is another one. */
function providerFaultOf(error: unknown) {
  if (error instanceof ProviderFault) return error.message;
  if (error instanceof RegistrationFailed) return registrationFaultOf(error);
  if (error instanceof UnreadableResponse) return 'sent a response above 1 MiB';
  if (isTimeout(error)) return undefined;
  if (error instanceof OperationProcessingError || error instanceof UnsupportedOperationError)
    return responseFaultOf(error);
  return undefined;
}

function registrationFaultOf({ status }: RegistrationFailed) {
  if (status === undefined) return 'sent an invalid response to the registration of this site';
  const isRefusal = [400, 422].includes(status);
  return `did not register this site as an application${isRefusal ? '' : ` (status ${status})`}`;
}

function responseFaultOf({ cause, message }: OperationProcessingError | UnsupportedOperationError) {
  const isRefusal = cause instanceof Response && !cause.ok;
  return isRefusal ? `responded with status ${cause.status}` : `sent an invalid response: ${message}`;
}

/** The library wraps what ends the reading of a response. */
function isTimeout(error: unknown) {
  return [error, error instanceof Error ? error.cause : undefined].some(
    (each) => each instanceof DOMException && each.name === 'TimeoutError',
  );
}

/** The provider's own words about a refusal. */
function detailOf({ error, error_description: description }: { error: string; error_description?: unknown }) {
  return (typeof description === 'string' ? description : error).slice(0, maxDetail);
}
