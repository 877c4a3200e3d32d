// @ts-check

/**
 * A response of the gateway.
 *
 * @typedef {{ status: number, text: string, retryAfter: string | null }} ServiceResponse
 */

/**
 * The machine-readable reason of a refusal (docs/reference/interface.md).
 *
 * @param {ServiceResponse} response
 * @returns {string | undefined}
 */
export function reasonOf({ text }) {
  return parseJson(text)?.errors?.[0]?.reason;
}

/**
 * The message of a refusal.
 *
 * @param {ServiceResponse} response
 * @returns {string}
 */
export function refusalOf({ status, text }) {
  const message = parseJson(text)?.errors?.[0]?.message;
  if (typeof message === 'string') return message;
  if (status === 413)
    return 'The file is too large for a proxy in front of this server. Ask the operator to raise the limit of the proxy.';
  return `Unexpected response from the server (status ${status}).`;
}

/**
 * The seconds that a response asks to wait. Proxies may name a date instead (RFC 9110 section 10.2.3).
 *
 * @param {ServiceResponse | undefined} response
 * @returns {number} 0 if it names none
 */
export function retryAfterOf(response) {
  const wait = response?.retryAfter ?? '';
  const seconds = /^\d+$/.test(wait) ? Number(wait) : (Date.parse(wait) - Date.now()) / 1000;
  return Math.max(0, Math.ceil(seconds)) || 0;
}

/**
 * Whether the same request may succeed later.
 *
 * @param {ServiceResponse} response
 */
export function isTemporary(response) {
  const { status } = response;
  if (status === 401) return reasonOf(response) === 'provider_unavailable';
  // Proxies also respond with unregistered statuses, such as 520 to 524.
  return status >= 500 || [408, 409, 423, 429].includes(status);
}

/**
 * Whether the provider no longer accepts the credentials.
 *
 * @param {ServiceResponse} response
 */
export function isSignInExpired(response) {
  return response.status === 401 && reasonOf(response) === 'credentials_refused';
}

/**
 * @param {string} text
 * @returns {any} undefined if it is not JSON
 */
export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
