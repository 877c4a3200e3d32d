// @ts-check
import { formatCount } from '/scripts/format.js';
import { isTemporary, refusalOf, retryAfterOf } from '/scripts/service-response.js';
import { Cancelled, NoResponse } from './send-request.js';

const maxAttempts = 8;
const longestSeconds = 60;
const longestRetryAfter = 120;

/** The wait that the server requires is too long for a page. */
export class LongWait extends Error {}

/**
 * Sends until a response is final, with growing waits in between. The server must recognize a repeat: only the response may have been lost.
 *
 * @param {() => Promise<import('/scripts/service-response.js').ServiceResponse>} send
 * @param {{ signal: AbortSignal, onWait: (why: string, seconds: number) => void, onOffline: () => void, hasAdvanced: () => boolean }} options
 *   `hasAdvanced`: whether the last attempt came further than those before, so that it does not count
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse>} the last response
 * @throws {Cancelled | NoResponse | LongWait}
 */
export async function sendWithRetries(send, { signal, onWait, onOffline, hasAdvanced }) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await sendOnline(send, { signal, onOffline });
    if (response && !isTemporary(response)) return response;
    if (hasAdvanced()) attempt = 1;
    if (attempt === maxAttempts) {
      if (response) return response;
      throw new NoResponse();
    }
    const retryAfter = requireShortWait(response);
    const growing = Math.min(2 ** (attempt - 1), longestSeconds);
    const seconds = Math.max(growing, retryAfter);
    onWait(response ? refusalOf(response).replace(' Try again later.', '') : 'The connection was lost.', seconds);
    await pause(seconds, { signal, endsOnline: retryAfter === 0 });
  }
}

/**
 * @param {import('/scripts/service-response.js').ServiceResponse | undefined} response
 * @returns {number} the seconds that the response requires to wait
 * @throws {LongWait}
 */
function requireShortWait(response) {
  const seconds = retryAfterOf(response);
  if (response && seconds > longestRetryAfter)
    throw new LongWait(`${refusalOf(response)} Try again in ${formatWait(seconds)}.`);
  return seconds;
}

/**
 * Sends, again after each time that the browser was offline.
 *
 * @param {() => Promise<import('/scripts/service-response.js').ServiceResponse>} send
 * @param {{ signal: AbortSignal, onOffline: () => void }} options
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse | undefined>} undefined if no response arrived
 */
async function sendOnline(send, { signal, onOffline }) {
  for (;;) {
    const response = await responseOrNothing(send());
    if (response || navigator.onLine) return response;
    onOffline();
    // Some browsers are wrong about it.
    await pause(longestSeconds, { signal, endsOnline: true });
  }
}

/** @param {number} seconds */
function formatWait(seconds) {
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 120 ? formatCount(minutes, 'minute') : formatCount(Math.ceil(minutes / 60), 'hour');
}

/**
 * @template T
 * @param {Promise<T>} sending
 * @returns {Promise<T | undefined>}
 */
function responseOrNothing(sending) {
  return sending.catch((error) => {
    if (error instanceof NoResponse) return undefined;
    throw error;
  });
}

/**
 * Ends early when the browser is online again, if `endsOnline`.
 *
 * @param {number} seconds
 * @param {{ signal: AbortSignal, endsOnline: boolean }} options
 * @returns {Promise<void>}
 */
function pause(seconds, { signal, endsOnline }) {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(new Cancelled());
      else resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    if (endsOnline) window.addEventListener('online', end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
