// @ts-check
import { reasonOf } from '/scripts/service-response.js';
import { isSignedIn } from './credentials.js';

// Faults of the file or its texts, which earlier attempts had too; and a published upload that was removed.
const settled = [400, 410, 413, 415, 422];

/**
 * Whether an upload may be published although its last attempt did not succeed. Other refusals say nothing about earlier attempts.
 *
 * @param {import('/scripts/service-response.js').ServiceResponse} response
 * @param {boolean} before whether an earlier attempt may have published it
 */
export function mayBePublished(response, before) {
  const { status } = response;
  // A proxy, whose refusals have no reason, knows nothing about earlier attempts.
  if (settled.includes(status) && reasonOf(response) !== undefined) return false;
  const isRefusal = status >= 400 && status < 500 && status !== 409;
  return before || !(isRefusal || reasonOf(response) === 'overloaded');
}

/**
 * What a person should know about an upload that may be published.
 *
 * @returns {(string | Node)[]}
 */
export function explainDoubt() {
  const link = document.createElement('a');
  link.href = '/mine';
  // The browser's Back would not bring back this list.
  link.target = '_blank';
  link.textContent = 'My uploads';
  const place = isSignedIn() ? [': look in ', link] : [];
  const texts = ' Its caption is locked, so that pressing Upload again cannot publish it twice.';
  return [' The whole file was sent, so it may be published', ...place, '.', texts];
}
