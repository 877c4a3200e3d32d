// @ts-check

/**
 * The page's address in a response that is a record.
 *
 * @param {XMLHttpRequest} response
 * @returns {string | undefined} undefined for other responses
 */
export function pageOf({ status, responseText }) {
  const url = status === 200 ? parseJson(responseText)?.url : undefined;
  return typeof url === 'string' && /^https?:/.test(url) ? url : undefined;
}

/**
 * The message of a refusal, and when to try again.
 *
 * @param {XMLHttpRequest} response
 * @returns {string}
 */
export function refusalOf(response) {
  const message = parseJson(response.responseText)?.errors?.[0]?.message;
  const reason =
    typeof message === 'string' ? message : `Unexpected response from the server (status ${response.status}).`;
  const seconds = response.getResponseHeader('Retry-After');
  return seconds ? `${reason} Try again in ${seconds} seconds.` : reason;
}

/** @param {string} text */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
