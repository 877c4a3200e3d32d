// @ts-check
import { parseJson } from '/scripts/answer.js';
import { credentialHeaders, settings } from '/sign-in/session.js';

const limitMs = 30_000;

/**
 * A record of the list.
 *
 * @typedef {{ id: string, text: string, url: string, width: number, height: number, type: string, timestamp: string }} Upload
 */

/**
 * Queries one page of the list of own uploads.
 *
 * @param {import('/sign-in/session.js').Session} session
 * @param {string | undefined} after the cursor of the previous page
 * @returns {Promise<import('/scripts/answer.js').Answer>}
 */
export function listUploads(session, after) {
  const cursor = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
  return ask(session, 'GET', `/2/media.json${cursor}`);
}

/**
 * The page of the list in an answer.
 *
 * @param {import('/scripts/answer.js').Answer} answer
 * @returns {{ media: Upload[], next?: string } | undefined} undefined if it is none
 */
export function pageOf({ text }) {
  const page = parseJson(text);
  return Array.isArray(page?.media) && page.media.every(isUpload) ? page : undefined;
}

/** @param {any} record */
function isUpload(record) {
  return [record?.id, record?.text, record?.url].every((field) => typeof field === 'string');
}

/**
 * @param {import('/sign-in/session.js').Session} session
 * @param {string} id
 * @returns {Promise<import('/scripts/answer.js').Answer>}
 */
export function removeUpload(session, id) {
  return ask(session, 'DELETE', `/2/media/${encodeURIComponent(id)}`);
}

/**
 * @param {import('/sign-in/session.js').Session} session
 * @param {string} method
 * @param {string} path
 * @throws without a response
 */
async function ask(session, method, path) {
  const response = await fetch(settings().upload + path, {
    method,
    headers: credentialHeaders(session),
    signal: AbortSignal.timeout(limitMs),
  });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') };
}
