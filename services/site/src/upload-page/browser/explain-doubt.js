// @ts-check
import { isSignedIn } from './credentials.js';

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
