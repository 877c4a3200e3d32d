// @ts-check
import { parseJson } from '/scripts/service-response.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { credentialHeaders } from '/sign-in/session.js';

const limitMs = 30_000;

/**
 * A record of the list.
 *
 * @typedef {{ id: string, text: string, url: string, width: number, height: number, type: string, timestamp: string }} Upload
 */

/**
 * Lists one page of the user's own uploads.
 *
 * @param {import('/sign-in/page-settings.js').Session} session
 * @param {string | undefined} after the cursor of the previous page
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse>}
 */
export function listUploads(session, after) {
  const cursor = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
  return send(session, 'GET', `/2/media.json${cursor}`);
}

/**
 * The page of the list in a response.
 *
 * @param {import('/scripts/service-response.js').ServiceResponse} response
 * @returns {{ media: Upload[], next?: string } | undefined} undefined if it contains none
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
 * @param {import('/sign-in/page-settings.js').Session} session
 * @param {string} id
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse>}
 */
export function removeUpload(session, id) {
  return send(session, 'DELETE', `/2/media/${encodeURIComponent(id)}`);
}

/**
 * @param {import('/sign-in/page-settings.js').Session} session
 * @param {string} method
 * @param {string} path
 * @throws {Error} if no response arrives
 */
async function send(session, method, path) {
  const response = await fetch(pageSettings().upload + path, {
    method,
    headers: credentialHeaders(session),
    signal: AbortSignal.timeout(limitMs),
  });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') };
}
