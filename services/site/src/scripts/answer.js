// @ts-check

/**
 * A response of the gateway.
 *
 * @typedef {{ status: number, text: string, retryAfter: string | null }} Answer
 */

/**
 * The machine-readable reason of a refusal (docs/interface.md).
 *
 * @param {Answer} answer
 * @returns {string | undefined}
 */
export function reasonOf({ text }) {
  return parseJson(text)?.errors?.[0]?.reason;
}

/**
 * The message of a refusal.
 *
 * @param {Answer} answer
 * @returns {string}
 */
export function refusalOf({ status, text }) {
  const message = parseJson(text)?.errors?.[0]?.message;
  return typeof message === 'string' ? message : `Unexpected response from the server (status ${status}).`;
}

/**
 * Whether the same request may succeed later.
 *
 * @param {Answer} answer
 */
export function isTemporary(answer) {
  const { status } = answer;
  if (status === 401) return reasonOf(answer) === 'provider_unavailable';
  return [408, 409, 429, 502, 503, 504].includes(status);
}

/**
 * Whether the provider no longer accepts the credentials.
 *
 * @param {Answer} answer
 */
export function isSignInExpired(answer) {
  return answer.status === 401 && reasonOf(answer) === 'credentials_refused';
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
