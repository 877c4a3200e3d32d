// @ts-check

import { formatCount } from '/scripts/format.js';
import { isSignInExpired, parseJson, refusalOf } from '/scripts/service-response.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { isReadable } from './check-file.js';
import { credentials, hasLostSession, isSignedIn } from './credentials.js';
import { mayBePublished } from './may-be-published.js';
import { Cancelled, NoResponse, sendUpload } from './send-upload.js';
import { LongWait, sendWithRetries } from './send-with-retries.js';
import { sessionRefusal } from './session-check.js';

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
    const response = await sendWithRetries(() => send(row, key, { signal, onProgress }), {
      signal,
      onWait: (why, seconds) => show(`${why} Trying again in ${formatCount(seconds, 'second')}.`),
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
  const { key: apiKey, headers } = credentials();
  const body = new FormData();
  body.set('key', apiKey);
  body.set('message', row.caption.value);
  if (row.alt.value.trim()) body.set('alt', row.alt.value.trim());
  body.set('media', row.file);
  const request = { headers: { ...headers, 'Idempotency-Key': key }, body };
  const before = row.mayBePublished;
  try {
    const response = await sendUpload(`${pageSettings().upload}/2/upload.json`, request, {
      signal,
      onProgress(sent, total) {
        row.showProgress(sent, total);
        onProgress();
      },
    });
    row.mayBePublished = mayBePublished(response, before);
    return response;
  } catch (error) {
    // The file may have changed during the upload.
    if (error instanceof NoResponse && !(await isReadable(row.file))) throw new Unreadable();
    throw error;
  }
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
    return 'No response: the service is unreachable, or the connection was lost. Press Upload to try again.';
  return `Upload failed: ${error instanceof Error ? error.message : error}`;
}
