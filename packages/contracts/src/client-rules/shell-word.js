// @ts-check

/**
 * One word for a POSIX shell, quoted if necessary.
 *
 * @param {string} text
 */
export function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
