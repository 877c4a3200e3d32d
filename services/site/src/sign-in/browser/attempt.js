// @ts-check

/**
 * What must survive the redirect to the provider and back. It contains no token.
 *
 * @typedef {{ provider: string, verifier: string, state: string, nonce: string, returnTo: string, application?: unknown }} Attempt
 */

const key = 'echodrop.sign-in';
const returnPaths = ['/upload', '/mine', '/mine/apps'];

/** @param {Attempt} attempt */
export function keepAttempt(attempt) {
  sessionStorage.setItem(key, JSON.stringify(attempt));
}

/**
 * The sign-in that this tab began. It can be taken once.
 *
 * @returns {Attempt | undefined}
 */
export function takeAttempt() {
  try {
    const attempt = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    sessionStorage.removeItem(key);
    const fields = [attempt?.provider, attempt?.verifier, attempt?.state, attempt?.nonce, attempt?.returnTo];
    return fields.every((field) => typeof field === 'string') ? attempt : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The path to return to: one of our pages that need a session.
 *
 * @param {string} path
 */
export function returnPath(path) {
  return returnPaths.includes(path) ? path : '/upload';
}
