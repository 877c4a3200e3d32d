// @ts-check

/**
 * The address of the page in a record that the service answered with.
 *
 * @param {XMLHttpRequest} answer
 * @returns {string | undefined} undefined for whatever is no record
 */
export function pageOf({ status, responseText }) {
  const url = status === 200 ? parsed(responseText)?.url : undefined;
  return typeof url === 'string' && /^https?:/.test(url) ? url : undefined;
}

/**
 * Why the service did not take it, in sentences.
 *
 * @param {XMLHttpRequest} answer
 * @returns {string}
 */
export function refusalOf(answer) {
  const message = parsed(answer.responseText)?.errors?.[0]?.message;
  const why =
    typeof message === 'string' ? message : `The service gave an answer without sense (status ${answer.status}).`;
  const seconds = answer.getResponseHeader('Retry-After');
  return seconds ? `${why} Please try again in ${seconds} seconds.` : why;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
