// @ts-check
import { isTemporary, refusalOf } from '/scripts/answer.js';
import { formatCount } from '/scripts/format.js';
import { Cancelled, NoResponse } from './send-upload.js';

const maxAttempts = 8;
const longestSeconds = 60;
const longestRetryAfter = 120;

/** The wait that the server requires is too long for a page. */
export class LongWait extends Error {}

/**
 * Sends until a response is final, with growing waits in between. The server must recognize a repeat: the response may be what got lost.
 *
 * @param {() => Promise<import('/scripts/answer.js').Answer>} send
 * @param {{ signal: AbortSignal, onWait: (why: string, seconds: number) => void }} options
 * @returns {Promise<import('/scripts/answer.js').Answer>} the last response
 * @throws {Cancelled | NoResponse | LongWait}
 */
export async function sendWithRetries(send, { signal, onWait }) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await answerOrNothing(send());
    if (answer && !isTemporary(answer)) return answer;
    if (attempt === maxAttempts) {
      if (answer) return answer;
      throw new NoResponse();
    }
    const asked = Number(answer?.retryAfter) || 0;
    if (answer && asked > longestRetryAfter)
      throw new LongWait(`${refusalOf(answer)} Try again in ${formatWait(asked)}.`);
    const growing = Math.min(2 ** (attempt - 1), longestSeconds);
    const seconds = Math.max(growing, asked);
    onWait(answer ? refusalOf(answer) : 'The connection was lost.', seconds);
    await pause(seconds, signal);
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
function answerOrNothing(sending) {
  return sending.catch((error) => {
    if (error instanceof NoResponse) return undefined;
    throw error;
  });
}

/**
 * Ends early when the browser is online again.
 *
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(new Cancelled());
      else resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    window.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
