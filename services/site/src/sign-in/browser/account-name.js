// @ts-check

const maxName = 100;

/**
 * How pages name an account: with the screen name, which its uploads show. Ignores what is no text.
 *
 * @param {unknown} name
 * @param {unknown} screenName
 */
export function accountName(name, screenName) {
  const full = nameOf(name);
  const screen = nameOf(screenName);
  return full && screen && full !== screen ? `${full} (${screen})` : full || screen;
}

/** @param {unknown} value of a provider */
function nameOf(value) {
  return typeof value === 'string' ? value.trim().slice(0, maxName) : '';
}
