// @ts-check
import { RetryPolicy } from '/scripts/client.js';
import { copyButton } from '/scripts/copy-button.js';

const limitMs = 10_000;
const retries = 5;

/** Ends when the page of the upload before has been read. */
let before = Promise.resolve();

/**
 * Adds a Copy button for the link, and for each embed code that the page of the media offers.
 *
 * @param {HTMLElement} place
 * @param {string} page the address of the page
 * @param {string} title
 */
export async function addCopyButtons(place, page, title) {
  place.append(copyButton('link', () => page, { of: title }));
  // One at a time: a fetch that the browser delays behind others would use up its time limit.
  const reading = before.then(() => embedCodes(page));
  before = reading.then(() => {});
  for (const [name, code] of await reading) place.append(copyButton(name, () => code, { of: title }));
}

/**
 * The codes in the share section of a page; none if it cannot be read.
 *
 * @param {string} page
 * @returns {Promise<[name: string, code: string][]>}
 */
async function embedCodes(page) {
  const policy = new RetryPolicy(retries);
  for (;;) {
    const codes = await readCodes(page).catch(() => undefined);
    const pauseMs = codes ? undefined : policy.nextPauseMs();
    if (pauseMs === undefined) return codes ?? [];
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * @param {string} page
 * @returns {Promise<[name: string, code: string][]>}
 * @throws {Error} if the page cannot be read
 */
async function readCodes(page) {
  // The same page at this origin, which may be another name of the site.
  const response = await fetch(`${new URL(page).pathname}?wait=0`, { signal: AbortSignal.timeout(limitMs) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { body } = new DOMParser().parseFromString(await response.text(), 'text/html');
  return ['Markdown', 'HTML', 'BBCode'].flatMap((name) => {
    const code = body.querySelector(`#share-${name.toLowerCase()}`)?.getAttribute('value');
    return code ? [[name, code]] : [];
  });
}
