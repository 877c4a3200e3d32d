import type { Session } from '/sign-in/page-settings.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { checkAddress, EchodropClient, RequestRefused, UnreadableResponse } from './client.ts';

/** A client of the gateway for the user who has signed in. It repeats nothing: the person presses the button again. */
export function clientOf({ provider, token }: Session) {
  return new EchodropClient({ service: pageSettings().upload, provider, credentials: { bearer: token }, retries: 0 });
}

/** Whether an error of a client says that the provider no longer accepts the credentials. */
export function isSignInExpired(error: unknown) {
  return error instanceof RequestRefused && error.status === 401 && error.reason === 'credentials_refused';
}

/** Why the gateway, or a proxy, gave no usable response; undefined if there was none. Omits advice for programs: a page cannot choose an address. */
export function refusalText(error: unknown): string | undefined {
  if (error instanceof UnreadableResponse) return 'Unexpected response from the server.';
  return error instanceof RequestRefused ? error.message.replace(` ${checkAddress}`, '') : undefined;
}
