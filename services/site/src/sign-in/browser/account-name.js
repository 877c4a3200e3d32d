// @ts-check

/**
 * How pages name an account: with the screen name, which its uploads show.
 *
 * @param {unknown} name
 * @param {unknown} screenName
 */
export function accountName(name, screenName) {
  if (name && screenName && name !== screenName) return `${name} (${screenName})`;
  return String(name || screenName || '');
}
