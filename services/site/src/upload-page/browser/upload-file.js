// @ts-check

import { formatCount } from '/scripts/format.js';
import { resumableBytes } from '/scripts/piece-sizes.js';
import { isTemporary, mayBePublished, mayPassInPieces } from '/scripts/refused-uploads.js';
import { isSignInExpired, parseJson, refusalOf, refusedBy } from '/scripts/service-response.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { isReadable } from './check-file.js';
import { credentials, hasLostSession, isSignedIn } from './credentials.js';
import { sendResumable } from './resumable-upload.js';
import { Cancelled, NoResponse, sendRequest } from './send-request.js';
import { LongWait, sendWithRetries } from './send-with-retries.js';
import { sessionRefusal } from './session-check.js';
import { findUnfinished, fingerprintOf } from './unfinished-uploads.js';

/** The file changed since it was chosen. Browsers then refuse to send it, without a reason. */
class Unreadable extends Error {}

class SessionLost extends Error {}

/** What a row says whose upload did not begin, or ended without a record. */
export const notUploaded = 'Not uploaded.';

/**
 * How an upload ended: with the address of the page, or without.
 *
 * @typedef {{ page: string } | 'cancelled' | 'refused' | 'sign-in expired'} Outcome
 */

/**
 * Uploads the file of a row and shows on the row how it goes.
 *
 * @param {import('./file-row.js').FileRow} row
 * @param {{ signal: AbortSignal, onProgress: () => void, onWait: (sentence: string) => void }} options
 * @returns {Promise<Outcome>}
 */
export async function uploadFile(row, { signal, onProgress, onWait }) {
  const show = (/** @type {string} */ sentence) => {
    row.showWait(sentence);
    onWait(sentence);
  };
  try {
    const key = row.key();
    row.refusedForm = undefined;
    let offset = 0;
    const response = await sendWithRetries(() => send(row, key, { signal, onProgress }), {
      signal,
      onWait: (why, seconds) => show(`${why} Trying again in ${formatCount(seconds, 'second')}.`),
      hasAdvanced() {
        const before = offset;
        offset = Math.max(before, row.offset);
        return offset > before;
      },
      onOffline: () => show('Offline. The upload continues when the connection is back.'),
    });
    return outcomeOf(response, row);
  } catch (error) {
    if (error instanceof Cancelled) {
      // What a row in doubt says contradicts it.
      row.stop(row.mayBePublished && signal.reason === notUploaded ? '' : signal.reason);
      return 'cancelled';
    }
    if (error instanceof SessionLost) return stopForSignIn(row);
    row.refuse(failureMessage(error, row.mayBePublished));
    return 'refused';
  }
}

/**
 * @param {import('./file-row.js').FileRow} row
 * @param {string} key
 * @param {{ signal: AbortSignal, onProgress: () => void }} options
 */
async function send(row, key, { signal, onProgress }) {
  if (signal.aborted) throw new Cancelled();
  if (!(await isReadable(row.file))) throw new Unreadable();
  if (hasLostSession()) throw new SessionLost();
  const refusal = await Promise.race([sessionRefusal(), cancelled(signal)]);
  if (refusal) return refusal;
  const before = row.mayBePublished;
  const report = (/** @type {number} */ sent, /** @type {number} */ total) => {
    row.showProgress(sent, total);
    onProgress();
  };
  const options = { signal, onProgress: report };
  try {
    const response =
      (await sendPieces(row, key, options)) ?? row.refusedForm ?? (await sendFormFirst(row, key, options));
    row.mayBePublished = mayBePublished(refusedBy(response), before);
    return response;
  } catch (error) {
    // The file may have changed during the upload.
    if (error instanceof NoResponse && !(await isReadable(row.file))) throw new Unreadable();
    row.needsPieces ||= error instanceof NoResponse && mayPassInPieces(undefined, row.file.size);
    throw error;
  }
}

/**
 * @param {import('./file-row.js').FileRow} row
 * @param {string} idempotencyKey
 * @param {import('./send-request.js').Options} options
 * @returns undefined if the file does not need it, or the server cannot do it
 */
async function sendPieces(row, idempotencyKey, options) {
  const { file, caption, alt, needsPieces } = row;
  const { upload: service } = pageSettings();
  const fields = fieldsOf(row);
  const fingerprint = fingerprintOf(file, [service, caption.value, alt.value.trim()]);
  if (file.size <= resumableBytes && !needsPieces && !(await findUnfinished(fingerprint))) return undefined;
  const upload = {
    ...{ file, fields, fingerprint, idempotencyKey, address: `${service}/files/` },
    headers: () => credentials().headers,
    onOffset(/** @type {number} */ bytes) {
      row.offset = bytes;
    },
  };
  return await sendResumable(upload, options);
}

/**
 * Sends a form, and then pieces if a proxy refuses it for good.
 *
 * @param {import('./file-row.js').FileRow} row
 * @param {string} key
 * @param {import('./send-request.js').Options} options
 */
async function sendFormFirst(row, key, options) {
  const response = await sendForm(row, key, options);
  const refusal = refusedBy(response);
  if (response.status < 400 || row.needsPieces || !mayPassInPieces(refusal, row.file.size)) return response;
  row.needsPieces = true;
  if (isTemporary(refusal)) return response;
  row.refusedForm = response;
  return (await sendPieces(row, key, options)) ?? response;
}

/**
 * @param {import('./file-row.js').FileRow} row
 * @param {string} idempotencyKey
 * @param {import('./send-request.js').Options} options
 */
async function sendForm(row, idempotencyKey, options) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fieldsOf(row))) body.set(name, value);
  body.set('media', row.file);
  const headers = { ...credentials().headers, 'Idempotency-Key': idempotencyKey };
  const address = `${pageSettings().upload}/2/upload.json`;
  const response = await sendRequest(address, { method: 'POST', headers, body }, options);
  return { ...response, sentBytes: row.file.size };
}

/**
 * @param {import('./file-row.js').FileRow} row
 * @returns {Record<string, string>}
 */
function fieldsOf({ caption, alt }) {
  const text = alt.value.trim();
  return { key: credentials().key, message: caption.value, ...(text && { alt: text }) };
}

/**
 * @param {import('/scripts/service-response.js').ServiceResponse} response
 * @param {import('./file-row.js').FileRow} row
 * @returns {Outcome}
 */
function outcomeOf(response, row) {
  const page = response.status === 200 ? parseJson(response.text)?.url : undefined;
  if (typeof page === 'string' && /^https?:/.test(page)) {
    row.publish();
    return { page };
  }
  if (isSignedIn() && isSignInExpired(response)) return stopForSignIn(row);
  row.refuse(refusalOf(response));
  return 'refused';
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<never>} rejects when the person cancels
 */
function cancelled(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Cancelled()), { once: true });
  });
}

/**
 * @param {import('./file-row.js').FileRow} row
 * @returns {Outcome}
 */
function stopForSignIn(row) {
  row.stop(row.mayBePublished ? '' : notUploaded);
  return 'sign-in expired';
}

/**
 * @param {unknown} error
 * @param {boolean} isInDoubt whether the file may be published, so that choosing it again may publish it twice
 */
function failureMessage(error, isInDoubt) {
  if (error instanceof Unreadable)
    return `The file cannot be read: it is a folder, or was changed or moved.${isInDoubt ? '' : ' Remove it and choose it again.'}`;
  if (error instanceof LongWait) return error.message;
  if (error instanceof NoResponse)
    return (
      error.message || 'No response: the service is unreachable, or the connection was lost. Press Upload to try again.'
    );
  return `Upload failed: ${error instanceof Error ? error.message : error}`;
}
