// @ts-check
import { copyButton } from '/scripts/copy-button.js';

const limitMs = 10_000;
const pauseMs = 3000;

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
 * @param {number} [attempts]
 * @returns {Promise<[name: string, code: string][]>}
 */
async function embedCodes(page, attempts = 3) {
  try {
    // The same page at this origin, which may be another name of the site.
    const response = await fetch(`${new URL(page).pathname}?wait=0`, { signal: AbortSignal.timeout(limitMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const { body } = new DOMParser().parseFromString(await response.text(), 'text/html');
    return ['Markdown', 'HTML', 'BBCode'].flatMap((name) => {
      const code = body.querySelector(`#share-${name.toLowerCase()}`)?.getAttribute('value');
      return code ? [[name, code]] : [];
    });
  } catch {
    if (attempts === 1) return [];
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return embedCodes(page, attempts - 1);
  }
}
