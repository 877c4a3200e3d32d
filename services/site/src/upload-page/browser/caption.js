// @ts-check
import { part } from './parts.js';

// What the gateway takes of a text field (docs/interface.md, "Limits").
const mostBytes = 64 * 1024;

const caption = part('message', HTMLTextAreaElement);

/** Lets the browser refuse a caption that the gateway would not take, as it refuses a field that is empty. */
export function followCaption() {
  caption.addEventListener('input', check);
  // A browser may have kept what was typed before the page was opened anew.
  check();
}

/** Nothing is typed any more. */
export function forgetCaption() {
  caption.value = '';
  check();
}

function check() {
  // As it travels: in UTF-8, and in forms a line ends with CRLF (HTML, "constructing entry list").
  const bytes = new TextEncoder().encode(caption.value.replaceAll(/\r\n?|\n/g, '\r\n')).length;
  const isTooLong = bytes > mostBytes;
  caption.setCustomValidity(
    isTooLong ? `This caption is too long: it has ${spelled(bytes)} bytes, and ${spelled(mostBytes)} are taken.` : '',
  );
}

/** @param {number} count */
function spelled(count) {
  return count.toLocaleString('en');
}
