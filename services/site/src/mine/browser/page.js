// @ts-check

import { element, partOf } from '/scripts/elements.js';
import { formatCount } from '/scripts/format.js';
import { isSignInExpired, refusalOf } from '/scripts/service-response.js';
import { showSignInExpired } from '/scripts/sign-in-again.js';
import { currentSession } from '/sign-in/session.js';
import { confirmDelete } from './confirm-delete.js';
import { listUploads, pageOf, removeUpload } from './own-uploads.js';
import { titleOf, uploadItem } from './upload-item.js';

/** @import { ServiceResponse } from '/scripts/service-response.js' */
/** @import { Upload } from './own-uploads.js' */
/** @import { Session } from '/sign-in/page-settings.js' */

const list = element('uploads', HTMLElement);
const more = element('more', HTMLButtonElement);
const news = element('news', HTMLElement);
const refusal = element('refusal', HTMLElement);

/** @type {string | undefined} */
let next;

const session = currentSession();
if (session) {
  element('mine', HTMLElement).hidden = false;
  // The reload that follows would cut off a deletion.
  window.addEventListener('sign-out', () => {
    element('mine', HTMLElement).inert = true;
  });
  more.addEventListener('click', () => void showMore(session));
  void showMore(session);
}

/**
 * Shows the next page of the list.
 *
 * @param {Session} session
 */
async function showMore(session) {
  const hadFocus = document.activeElement === more;
  news.textContent = 'Loading.';
  more.disabled = true;
  const response = await expectResponse(listUploads(session, next));
  more.disabled = false;
  const page = response && pageOf(response);
  if (!page) {
    if (response) refusal.textContent = refusalOf(response);
    news.textContent = '';
    more.textContent = 'Try again';
    // Only another sign-in helps then.
    const again = refusal.querySelector('button');
    more.hidden = again !== null;
    if (hadFocus) (again ?? more).focus();
    return;
  }
  const uploads = page.media;
  const items = uploads.map((upload) => {
    const item = uploadItem(upload, () => void remove(session, upload, item));
    return item;
  });
  list.append(...items);
  next = page.next;
  more.hidden = next === undefined;
  more.textContent = 'Show more';
  showEmpty();
  news.textContent = uploads.length > 0 ? `${formatCount(list.childElementCount, 'upload')} shown.` : '';
  if (hadFocus) (items[0]?.querySelector('a') ?? more).focus();
}

/**
 * Deletes an upload once the user confirms.
 *
 * @param {Session} session
 * @param {Upload} upload
 * @param {HTMLElement} item
 */
async function remove(session, upload, item) {
  if (!(await confirmDelete(titleOf(upload)))) return;
  news.textContent = 'Deleting.';
  const buttons = item.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  const response = await expectResponse(removeUpload(session, upload.id), [204, 404]);
  news.textContent = '';
  for (const button of buttons) button.disabled = false;
  if (!response) {
    // A disabled button loses the focus.
    if (document.activeElement === document.body) partOf(item, 'button:last-child', HTMLButtonElement).focus();
    return;
  }
  const neighbour = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  showEmpty();
  news.textContent = `Deleted: ${titleOf(upload)}.`;
  const target = neighbour ? partOf(neighbour, 'a', HTMLAnchorElement) : element('heading', HTMLElement);
  target.focus();
}

/**
 * Resolves to the response if its status is one of `expected`. Otherwise shows the failure and resolves to undefined.
 *
 * @param {Promise<ServiceResponse>} pending
 * @param {readonly number[]} expected
 */
async function expectResponse(pending, expected = [200]) {
  refusal.replaceChildren();
  try {
    const response = await pending;
    if (expected.includes(response.status)) return response;
    if (isSignInExpired(response)) showSignInExpired(refusal);
    else refusal.textContent = refusalOf(response);
  } catch {
    refusal.textContent = 'No response from the server. Check the connection, then try again.';
  }
  refusal.scrollIntoView({ block: 'nearest' });
  return undefined;
}

function showEmpty() {
  element('empty', HTMLElement).hidden = list.childElementCount > 0 || !more.hidden;
}
