// @ts-check
import { describeProxyResponse } from './refused-uploads.js';
import { retryAfterSeconds } from './retry-policy.js';

/**
 * A response of the gateway, or of a proxy. `type` is its Content-Type, `sentBytes` what was sent of a file.
 *
 * @typedef {{ status: number, text: string, retryAfter: string | null, type?: string | null, sentBytes?: number }} ServiceResponse
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
 * The refusal in a response, as the rules of all clients see it.
 *
 * @param {ServiceResponse} response
 */
export function refusedBy(response) {
  return { status: response.status, reason: reasonOf(response) };
}

/**
 * The message of a refusal.
 *
 * @param {ServiceResponse} response
 * @returns {string}
 */
export function refusalOf({ status, text, type = null, sentBytes: bytes }) {
  const message = parseJson(text)?.errors?.[0]?.message;
  if (typeof message === 'string') return message;
  if (status >= 400) return describeProxyResponse({ status, type, bytes });
  return `Unexpected response from the server (status ${status}).`;
}

/**
 * The seconds that a response asks to wait.
 *
 * @param {ServiceResponse | undefined} response
 * @returns {number} 0 if it names none
 */
export function retryAfterOf(response) {
  return retryAfterSeconds(response?.retryAfter ?? '') ?? 0;
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
