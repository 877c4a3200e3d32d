// Endpoints of the service, at the end of an address that was copied whole.
// `/1` and `/2` alone may be base paths; `/files` is none (config.ts of the gateway).
const endpoint = /\/(?:[12]\/(?:upload|media)(?:\.(?:json|xml))?|files|openapi\.json)$/;

/** One word of ASCII, as in a header. Other characters of an address could look like ASCII, or begin a row of a terminal with text of the service. */
export const asciiWord = /^[\x21-\x7e]+$/;

/** Whether a URL has a user or a password: messages would show them, and a user in front of the host looks like another host. */
export function hasLogin(address: string): boolean {
  const { username, password } = new URL(address);
  return username + password !== '';
}

/** The address of an upload service, without a slash at its end, repeated slashes and the path of an endpoint. @throws TypeError if it is no URL */
export function serviceAddress(address: string | URL): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+/g, '/').replace(/\/$/, '').replace(endpoint, '');
}
