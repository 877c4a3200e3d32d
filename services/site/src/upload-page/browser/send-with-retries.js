// @ts-check
import { formatCount } from '/scripts/format.js';
import { isTemporary } from '/scripts/refused-uploads.js';
import { maxRetryAfterMs, RetryPolicy } from '/scripts/retry-policy.js';
import { refusalOf, refusedBy, retryAfterOf } from '/scripts/service-response.js';
import { Cancelled, NoResponse } from './send-request.js';

// With pauses of about two minutes together: the restart of a server may take that long.
const retries = 12;
const offlineCheckMs = 60_000;

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
  const policy = new RetryPolicy(retries);
  for (;;) {
    const response = await sendOnline(send, { signal, onOffline });
    if (!(response instanceof NoResponse) && !mayPass(response)) return response;
    if (hasAdvanced()) policy.restart();
    const isLost = response instanceof NoResponse;
    const retryAfter = isLost ? 0 : retryAfterOf(response);
    const pauseMs = policy.nextPauseMs(retryAfter * 1000);
    if (pauseMs === undefined) {
      if (isLost) throw response;
      return requireShortWait(response, retryAfter);
    }
    const why = isLost ? 'The connection was lost.' : refusalOf(response).replace(' Try again later.', '');
    onWait(why, Math.ceil(pauseMs / 1000));
    await pause(pauseMs, { signal, endsOnline: retryAfter === 0 });
  }
}

/** @param {import('/scripts/service-response.js').ServiceResponse} response */
function mayPass(response) {
  const refusal = refusedBy(response);
  // The next attempt finds the new offset.
  return isTemporary(refusal) || refusal.reason === 'offset_conflict';
}

/**
 * @param {import('/scripts/service-response.js').ServiceResponse} response
 * @param {number} retryAfter seconds
 * @throws {LongWait}
 */
function requireShortWait(response, retryAfter) {
  if (retryAfter * 1000 > maxRetryAfterMs)
    throw new LongWait(`${refusalOf(response)} Try again in ${formatWait(retryAfter)}.`);
  return response;
}

/**
 * Sends, again after each time that the browser was offline.
 *
 * @param {() => Promise<import('/scripts/service-response.js').ServiceResponse>} send
 * @param {{ signal: AbortSignal, onOffline: () => void }} options
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse | NoResponse>}
 */
async function sendOnline(send, { signal, onOffline }) {
  for (;;) {
    const response = await responseOrLoss(send());
    if (!(response instanceof NoResponse) || navigator.onLine) return response;
    onOffline();
    // Some browsers are wrong about it.
    await pause(offlineCheckMs, { signal, endsOnline: true });
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
 * @returns {Promise<T | NoResponse>}
 */
function responseOrLoss(sending) {
  return sending.catch((error) => {
    if (error instanceof NoResponse) return error;
    throw error;
  });
}

/**
 * Ends early when the browser is online again, if `endsOnline`.
 *
 * @param {number} ms
 * @param {{ signal: AbortSignal, endsOnline: boolean }} options
 * @returns {Promise<void>}
 */
function pause(ms, { signal, endsOnline }) {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(new Cancelled());
      else resolve();
    };
    const timer = setTimeout(end, ms);
    if (endsOnline) window.addEventListener('online', end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
