// @ts-check

import { credentialHeaders, currentSession, settings } from '/sign-in/session.js';
import { signedGet } from './authorization.js';
import { clearCaption, validateCaption } from './caption.js';
import { clearChoice, enableChoice, isReadable } from './chosen-file.js';
import { element, formatSize } from './elements.js';
import { pageOf, refusalOf } from './response.js';
import { Cancelled, NoResponse, sendUpload } from './send-upload.js';

/** The file changed since it was chosen. Browsers then refuse to send it, without a reason. */
class Unreadable extends Error {}

const form = element('upload', HTMLFormElement);
const fields = element('fields', HTMLFieldSetElement);
const sending = element('sending', HTMLElement);
const progress = element('progress', HTMLProgressElement);
const sent = element('sent', HTMLElement);
const cancel = element('cancel', HTMLButtonElement);
const outcome = element('outcome', HTMLElement);
const refusal = element('refusal', HTMLElement);
const done = element('done', HTMLElement);

enableChoice();
hideCredentials();
validateCaption();
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void upload();
});
form.addEventListener('change', showProof);
// An invalid field is only visible if its section is open.
form.addEventListener('invalid', openSection, { capture: true });
element('again', HTMLButtonElement).addEventListener('click', reset);
fields.disabled = false;
showProof();

/** @param {Event} invalid */
function openSection({ target }) {
  if (target instanceof Element) target.closest('details')?.setAttribute('open', '');
}

async function upload() {
  const entries = new FormData(form);
  const media = entries.get('media');
  const cancelling = new AbortController();
  cancel.onclick = () => cancelling.abort();
  window.onbeforeunload = (event) => event.preventDefault();
  showSending(true);
  try {
    if (!(await isReadable(media))) throw new Unreadable();
    const request = { headers: echoHeaders(entries), body: uploadForm(entries) };
    const options = { signal: cancelling.signal, onProgress: showProgress };
    showResponse(await sendUpload(form.dataset['address'] ?? '', request, options));
  } catch (error) {
    // The file may have changed during the upload.
    const isChanged = error instanceof NoResponse && !(await isReadable(media));
    showSending(false);
    if (error instanceof Cancelled) say(outcome, 'Cancelled.');
    else say(refusal, failureMessage(isChanged ? new Unreadable() : error));
  } finally {
    window.onbeforeunload = null;
  }
}

/**
 * The two headers of version 2 (docs/interface.md section 4.1).
 *
 * @param {FormData} entries
 */
function echoHeaders(entries) {
  const session = currentSession();
  if (session) return credentialHeaders(session);
  const provider = text(entries, 'provider');
  const credentials = {
    consumerKey: text(entries, 'consumerKey'),
    consumerSecret: text(entries, 'consumerSecret'),
    token: text(entries, 'token'),
    tokenSecret: text(entries, 'tokenSecret'),
  };
  const usesBearer = text(entries, 'proof') === 'bearer';
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': usesBearer
      ? `Bearer ${text(entries, 'bearer')}`
      : signedGet(provider, credentials),
  };
}

/**
 * The form with the three fields that are sent.
 *
 * @param {FormData} entries
 */
function uploadForm(entries) {
  const body = new FormData();
  body.set('key', text(entries, 'apiKey'));
  body.set('message', entries.get('message') ?? '');
  body.set('media', entries.get('media') ?? '');
  return body;
}

/** @param {XMLHttpRequest} response */
function showResponse(response) {
  const page = pageOf(response);
  showSending(false);
  if (page === undefined) return say(refusal, refusalOf(response));
  say(outcome, '');
  const link = element('link', HTMLAnchorElement);
  link.href = page;
  link.textContent = page;
  // Not parsed: its numbers may exceed those of JavaScript.
  element('record', HTMLElement).textContent = response.responseText;
  form.hidden = true;
  done.hidden = false;
  element('done-name', HTMLElement).focus();
}

function reset() {
  done.hidden = true;
  form.hidden = false;
  say(outcome, '');
  clearCaption();
  clearChoice();
  element('media', HTMLInputElement).focus();
}

/** @param {boolean} isSending */
function showSending(isSending) {
  fields.disabled = isSending;
  sending.hidden = !isSending;
  if (!isSending) return element('submit', HTMLButtonElement).focus();
  progress.value = 0;
  sent.textContent = '';
  say(outcome, 'Uploading.');
  cancel.focus();
}

/**
 * @param {number} loaded bytes
 * @param {number} total
 */
function showProgress(loaded, total) {
  if (loaded < total) {
    progress.value = loaded / total;
    sent.textContent = `${Math.floor((100 * loaded) / total)} %, ${formatSize(loaded)} of ${formatSize(total)}`;
    return;
  }
  progress.removeAttribute('value');
  sent.textContent = formatSize(total);
  say(outcome, 'Upload complete. Processing.');
}

/**
 * Shows a message, also to screen readers, and scrolls to it.
 *
 * @param {HTMLElement} place
 * @param {string} sentence
 */
function say(place, sentence) {
  for (const each of [outcome, refusal]) each.textContent = each === place ? sentence : '';
  place.scrollIntoView({ block: 'nearest' });
}

/** Who is signed in types no credentials, and no API key if the site has one. */
function hideCredentials() {
  if (!currentSession()) return;
  const credentials = element('credentials', HTMLFieldSetElement);
  credentials.hidden = credentials.disabled = true;
  const who = element('who', HTMLDetailsElement);
  who.hidden = settings().apiKey !== undefined;
  who.open = !who.hidden;
}

function showProof() {
  const proof = text(new FormData(form), 'proof');
  for (const kind of ['oauth', 'bearer']) {
    const secrets = element(`with-${kind}`, HTMLFieldSetElement);
    secrets.hidden = secrets.disabled = kind !== proof;
  }
}

/** @param {unknown} error */
function failureMessage(error) {
  if (error instanceof Unreadable)
    return 'The file cannot be read: it is a folder, or was changed or moved. Choose it again.';
  if (error instanceof NoResponse) return 'No response: the service is unreachable, or the connection was lost.';
  return `Upload failed: ${error instanceof Error ? error.message : error}`;
}

/**
 * @param {FormData} data
 * @param {string} name
 */
function text(data, name) {
  const value = data.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
