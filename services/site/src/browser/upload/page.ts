import { announce, element, fromTemplate, partOf } from '/scripts/elements.js';
import { formatCount, shortenCaption } from '/scripts/format.js';
import { faultOf } from './check-file.ts';
import { onFiles } from './choose-files.ts';
import { canUpload, enableCredentials } from './credentials.ts';
import { FileRow } from './file-row.ts';
import { listFaults } from './list-faults.ts';
import { clearPreview, showPublishedPreview } from './preview.ts';
import { enqueue } from './queue.ts';
import { addCopyButtons } from './share-codes.ts';
import { isSignInPending, showSignInElsewhere, signInForOtherTab } from './sign-in-elsewhere.ts';
import { notUploaded, uploadFile } from './upload-file.ts';

const form = element('upload', HTMLFormElement);
const list = element('files', HTMLElement);
const sending = element('sending', HTMLElement);
const progress = element('progress', HTMLProgressElement);
const news = element('news', HTMLElement);
const refusal = element('refusal', HTMLElement);
const done = element('done', HTMLElement);
const doneHeading = element('done-name', HTMLElement);

const { maxBytes, extensions = '', contentTypes = '', unsupported = '' } = form.dataset;
const limits = {
  maxBytes: Number(maxBytes),
  extensions: extensions.split(' '),
  contentTypes: contentTypes.split(' '),
  unsupported,
};

/** The files in the list. */
const rows: Set<FileRow> = new Set();
/** The uploads since the last pause, whose progress the bar shows. */
const batch: Set<FileRow> = new Set();
let quarterSaid = 0;

enableCredentials();
signInForOtherTab(say, losesWork);
onFiles(addFiles);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  startUploads();
});
element('cancel', HTMLButtonElement).addEventListener('click', () => {
  for (const row of batch) row.cancel();
});
window.addEventListener('sign-out', (event) => {
  const question =
    batch.size > 0
      ? 'Files are still being uploaded. Those already sent may be published all the same. Cancel the others'
      : 'Some files are not published. Discard them';
  if (losesWork() && !confirm(`${question} and sign out?`)) return event.preventDefault();
  for (const row of batch) row.cancel();
  rows.clear();
  batch.clear();
  guardLeaving();
  element('fields', HTMLFieldSetElement).disabled = true;
});

function addFiles(files: readonly File[]) {
  if (!canUpload()) return complain('Sign in first. Then choose the files.');
  complain('');
  const added = files.map((file) => new FileRow(file, faultOf(file, limits), removeRow));
  for (const row of added) {
    rows.add(row);
    list.append(row.root);
  }
  guardLeaving();
  const fit = added.filter(({ state }) => state === 'waiting');
  say([`${formatCount(fit.length, 'file')} added.`, ...listFaults(added)].join(' '));
}

function removeRow(row: FileRow) {
  const next = row.root.nextElementSibling ?? row.root.previousElementSibling;
  rows.delete(row);
  batch.delete(row);
  row.root.remove();
  clearPreview(row.preview);
  guardLeaving();
  say(`${row.file.name} removed.`);
  if (next) partOf(next, 'button', HTMLButtonElement).focus();
  else element('media', HTMLInputElement).focus();
}

function startUploads() {
  const waiting = [...rows].filter(({ state }) => state === 'waiting');
  if (waiting.length === 0) {
    if (batch.size > 0) return say('These files are already being uploaded.');
    complain(rows.size === 0 ? 'Choose a photo or video first.' : 'None of these files can be uploaded.');
    return element('media', HTMLInputElement).focus();
  }
  if (isSignInPending()) return refusal.querySelector('a')?.focus();
  complain('');
  for (const row of waiting) {
    const signal = row.begin();
    batch.add(row);
    enqueue(() => runUpload(row, signal), signal);
  }
  sending.hidden = false;
  showProgress();
  say(`Uploading ${formatCount(waiting.length, 'file')}.`);
}

async function runUpload(row: FileRow, signal: AbortSignal) {
  const onWait = (sentence: string) => say(`${row.file.name}: ${sentence}`);
  const outcome = await uploadFile(row, { signal, onProgress: showProgress, onWait });
  if (outcome === 'sign-in expired') {
    for (const other of batch) other.cancel(notUploaded);
    showSignInElsewhere(refusal, continueSignedIn);
  } else if (typeof outcome === 'object') {
    const hadFocus = row.root.contains(document.activeElement);
    rows.delete(row);
    row.root.remove();
    const link = showPublished(row, outcome.page);
    if (hadFocus) link.focus();
    guardLeaving();
    say(`${row.file.name} published.`);
  }
  // Several uploads may end at the same moment.
  if (batch.size === 0) return;
  if ([...batch].every(({ state }) => state !== 'busy')) endBatch();
  else showProgress();
}

function endBatch() {
  const rest = [...batch].filter(({ state }) => state !== 'published');
  const published = batch.size - rest.length;
  const unclear = rest.filter(({ mayBePublished }) => mayBePublished).length;
  batch.clear();
  const active = document.activeElement;
  // If the focus is elsewhere on the page, the person does something else.
  const isElsewhere = active && active !== document.body && active.id !== 'submit' && !sending.contains(active);
  sending.hidden = true;
  const counts = { published, 'not published': rest.length - unclear, 'possibly published': unclear };
  const known = Object.entries(counts).filter(([, count]) => count > 0);
  const summary = known.map(([what, count]) => `${formatCount(count, 'file')} ${what}.`);
  say([...summary, ...listFaults(rest)].join(' '));
  if (isElsewhere) return;
  const target = refusal.querySelector('a') ?? rest[0] ?? doneHeading;
  target.focus();
}

/** Continues after a sign-in by the user `name`, perhaps another one than before. */
function continueSignedIn(name: string, isSameUser: boolean) {
  for (const row of isSameUser ? [] : rows) if (row.mayBePublished) row.keepForOtherUser();
  say(`Signed in as ${name}. Press Upload to continue.`);
  element('submit', HTMLButtonElement).focus();
}

function showProgress() {
  const all = [...batch];
  const total = all.reduce((sum, { file }) => sum + file.size, 0);
  const sent = all.reduce((sum, row) => sum + row.sent, 0);
  const published = all.filter(({ state }) => state === 'published').length;
  progress.value = sent / total;
  sayQuarter(Math.floor((4 * sent) / total));
  element('sent', HTMLElement).textContent =
    `${published} of ${formatCount(all.length, 'file')} published, ${Math.floor((100 * sent) / total)} % sent`;
}

/** Announces each quarter of a batch once. */
function sayQuarter(quarter: number) {
  if (quarter > quarterSaid && quarter < 4) say(`${25 * quarter} % sent.`);
  quarterSaid = quarter;
}

/** @returns the link to the page */
function showPublished(row: FileRow, page: string): HTMLElement {
  const item = fromTemplate('published-row');
  const link = partOf(item, 'a', HTMLAnchorElement);
  const title = shortenCaption(row.caption.value) || row.file.name;
  link.href = page;
  // After the browser's Back, this page would be empty.
  link.target = '_blank';
  link.textContent = title;
  partOf(item, '.preview', HTMLElement).replaceWith(row.preview);
  showPublishedPreview(row.preview, page, row.file);
  void addCopyButtons(partOf(item, '.codes', HTMLElement), page, title);
  element('published', HTMLElement).append(item);
  done.hidden = false;
  return link;
}

/** Lets the browser ask before a person leaves files that are not published, or may be. */
function guardLeaving() {
  window.onbeforeunload = losesWork() ? (event) => event.preventDefault() : null;
}

function losesWork() {
  return [...rows].some(({ state }) => state !== 'unfit');
}

function say(sentence: string) {
  announce(news, sentence);
}

function complain(sentence: string) {
  // The way to sign in again stays.
  if (isSignInPending()) return;
  refusal.textContent = sentence;
  if (sentence) refusal.scrollIntoView({ block: 'nearest' });
}
