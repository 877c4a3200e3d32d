// @ts-check
import { announce, unseen } from './elements.js';

const shownMs = 2000;

/**
 * A button that copies a text, and says so on itself and to screen readers.
 *
 * @param {string} what is copied, like "link"
 * @param {() => string} text
 * @param {{ hidesWhat?: boolean, of?: string }} [options] whether only screen readers get `what`, and whose it is, for screen readers
 * @returns {HTMLButtonElement}
 */
export function copyButton(what, text, { hidesWhat = false, of } = {}) {
  const button = document.createElement('button');
  const verb = document.createTextNode('Copy');
  button.type = 'button';
  button.className = 'button copy';
  button.append(verb, hidesWhat ? unseen(` ${what}`) : ` ${what}`);
  if (of !== undefined) button.append(unseen(` of ${of}`));
  let restoring = 0;
  button.addEventListener('click', async () => {
    const isCopied = await copy(text());
    verb.data = isCopied ? 'Copied' : 'Not copied:';
    say(
      isCopied
        ? `Copied ${what}.`
        : 'The browser does not allow copying. Select the text and copy it with the keyboard.',
    );
    clearTimeout(restoring);
    restoring = setTimeout(() => {
      verb.data = 'Copy';
    }, shownMs);
  });
  return button;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} whether the clipboard has it
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/**
 * A page on plain HTTP has no `navigator.clipboard`.
 *
 * @param {string} text
 */
function copySelected(text) {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'unseen';
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/** @type {HTMLElement | undefined} */
let news;

/** @param {string} sentence */
function say(sentence) {
  if (!news) {
    news = document.createElement('p');
    news.className = 'unseen';
    news.setAttribute('role', 'status');
    document.querySelector('main')?.append(news);
  }
  announce(news, sentence);
}
