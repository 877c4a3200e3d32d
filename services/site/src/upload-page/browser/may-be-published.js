// @ts-check
import { reasonOf } from '/scripts/answer.js';
import { isSignedIn } from './credentials.js';

// Faults of the file or its texts, which earlier attempts had too; and a published upload that was removed.
const settled = [400, 410, 413, 415, 422];

/**
 * Whether an upload may be published although its last attempt did not succeed. Other refusals say nothing about earlier attempts.
 *
 * @param {import('/scripts/answer.js').Answer} answer
 * @param {boolean} before whether an earlier attempt may have published it
 */
export function mayBePublished(answer, before) {
  const { status } = answer;
  if (settled.includes(status)) return false;
  const isRefusal = status >= 400 && status < 500 && status !== 409;
  return before || !(isRefusal || reasonOf(answer) === 'overloaded');
}

/**
 * What a person should know about an upload that may be published.
 *
 * @returns {(string | Node)[]}
 */
export function explainDoubt() {
  const link = document.createElement('a');
  link.href = '/mine';
  link.textContent = 'My uploads';
  const place = isSignedIn() ? [': look in ', link] : [];
  const texts = ' Its texts stay as they were sent, so that Upload adds no second one.';
  return [' The whole file was sent, so it may be published', ...place, '.', texts];
}
