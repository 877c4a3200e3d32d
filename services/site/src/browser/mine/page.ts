import type { EchodropClient } from '/scripts/client.js';
import { RequestRefused } from '/scripts/client.js';
import { element, partOf } from '/scripts/elements.js';
import { formatCount } from '/scripts/format.js';
import { clientOf, isSignInExpired, refusalText } from '/scripts/service-client.js';
import { showSignInExpired } from '/scripts/sign-in-again.js';
import { currentSession } from '/sign-in/session.js';
import type { Upload } from './upload-item.ts';
import { titleOf, uploadItem } from './upload-item.ts';

const limitMs = 30_000;

const list = element('uploads', HTMLElement);
const more = element('more', HTMLButtonElement);
const news = element('news', HTMLElement);
const refusal = element('refusal', HTMLElement);
const dialog = element('confirm', HTMLDialogElement);

let next: string | undefined;

// The page's policy allows no form submission, not even `method=dialog` in every browser.
for (const button of dialog.querySelectorAll('button')) {
  button.addEventListener('click', () => dialog.close(button.value));
}

const session = currentSession();
if (session) {
  element('mine', HTMLElement).hidden = false;
  // The reload that follows would cut off a deletion.
  window.addEventListener('sign-out', () => {
    element('mine', HTMLElement).inert = true;
  });
  const client = clientOf(session);
  more.addEventListener('click', () => void showMore(client));
  void showMore(client);
}

/** Shows the next page of the list. */
async function showMore(client: EchodropClient) {
  const hadFocus = document.activeElement === more;
  news.textContent = 'Loading.';
  more.disabled = true;
  const page = await resultOf((signal) => client.list({ after: next, signal }));
  more.disabled = false;
  if (!page) {
    news.textContent = '';
    more.textContent = 'Try again';
    // Only another sign-in helps after this failure.
    const again = refusal.querySelector('button');
    more.hidden = again !== null;
    if (hadFocus) (again ?? more).focus();
    return;
  }
  const uploads = page.records;
  const items = uploads.map((upload) => {
    const item = uploadItem(upload, () => void remove(client, upload, item));
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

/** Deletes an upload once the user confirms. */
async function remove(client: EchodropClient, upload: Upload, item: HTMLElement) {
  if (!(await confirmDelete(titleOf(upload)))) return;
  news.textContent = 'Deleting.';
  const buttons = item.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  const isGone = await resultOf((signal) => removed(client, upload.id, signal));
  news.textContent = '';
  for (const button of buttons) button.disabled = false;
  if (!isGone) {
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

/** Removes an upload, which may be gone already. */
async function removed(client: EchodropClient, id: string, signal: AbortSignal) {
  await client.remove(id, { signal }).catch((error) => {
    if (!(error instanceof RequestRefused && error.status === 404)) throw error;
  });
  return true;
}

/** The result of requests to the gateway; undefined if they fail, after showing why. */
async function resultOf<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  refusal.replaceChildren();
  try {
    return await request(AbortSignal.timeout(limitMs));
  } catch (error) {
    if (isSignInExpired(error)) showSignInExpired(refusal);
    else
      refusal.textContent = refusalText(error) ?? 'No response from the server. Check the connection, then try again.';
  }
  refusal.scrollIntoView({ block: 'nearest' });
  return undefined;
}

function showEmpty() {
  element('empty', HTMLElement).hidden = list.childElementCount > 0 || !more.hidden;
}

/** Asks the person whether to delete the upload with this title. */
function confirmDelete(title: string): Promise<boolean> {
  element('confirm-title', HTMLElement).textContent = title;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'delete'), { once: true });
  });
}
