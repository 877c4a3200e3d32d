// @ts-check
import { pageOf, refusalOf } from './answer.js';
import { signedGet } from './authorization.js';
import { followCaption, forgetCaption } from './caption.js';
import { followChoice, forgetChoice, isReadable } from './chosen-file.js';
import { part, sizeOf } from './parts.js';
import { Cancelled, sendUpload, Unanswered } from './send-upload.js';

/** The file is not as it was when it was chosen: browsers do not send it, and do not say why. */
class Unreadable extends Error {}

const form = part('upload', HTMLFormElement);
const fields = part('fields', HTMLFieldSetElement);
const sending = part('sending', HTMLElement);
const progress = part('progress', HTMLProgressElement);
const sent = part('sent', HTMLElement);
const cancel = part('cancel', HTMLButtonElement);
const outcome = part('outcome', HTMLElement);
const refusal = part('refusal', HTMLElement);
const done = part('done', HTMLElement);

followChoice();
followCaption();
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void upload();
});
form.addEventListener('change', showProof);
// A field that is wrong can be seen only where its part of the form is open.
form.addEventListener('invalid', openAround, { capture: true });
part('again', HTMLButtonElement).addEventListener('click', begin);
fields.disabled = false;
showProof();

/** @param {Event} invalid */
function openAround({ target }) {
  if (target instanceof Element) target.closest('details')?.setAttribute('open', '');
}

/** The straight line: what was typed, two headers and a form, the answer. */
async function upload() {
  const typed = new FormData(form);
  const media = typed.get('media');
  const cancelling = new AbortController();
  cancel.onclick = () => cancelling.abort();
  window.onbeforeunload = (event) => event.preventDefault();
  showSending(true);
  try {
    if (!(await isReadable(media))) throw new Unreadable();
    const request = { headers: echoHeaders(typed), body: uploadForm(typed) };
    const options = { signal: cancelling.signal, onProgress: showProgress };
    showAnswer(await sendUpload(form.dataset['address'] ?? '', request, options));
  } catch (error) {
    // It may have changed while it was sent.
    const isLost = error instanceof Unanswered && !(await isReadable(media));
    showSending(false);
    if (error instanceof Cancelled) say(outcome, 'Cancelled.');
    else say(refusal, failure(isLost ? new Unreadable() : error));
  } finally {
    window.onbeforeunload = null;
  }
}

/**
 * The two headers of version 2 (docs/interface.md section 4.1).
 *
 * @param {FormData} typed
 */
function echoHeaders(typed) {
  const provider = text(typed, 'provider');
  const credentials = {
    consumerKey: text(typed, 'consumerKey'),
    consumerSecret: text(typed, 'consumerSecret'),
    token: text(typed, 'token'),
    tokenSecret: text(typed, 'tokenSecret'),
  };
  const usesBearer = text(typed, 'proof') === 'bearer';
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': usesBearer
      ? `Bearer ${text(typed, 'bearer')}`
      : signedGet(provider, credentials),
  };
}

/**
 * Nothing of what was typed but these three goes into the form.
 *
 * @param {FormData} typed
 */
function uploadForm(typed) {
  const body = new FormData();
  body.set('key', text(typed, 'apiKey'));
  body.set('message', typed.get('message') ?? '');
  body.set('media', typed.get('media') ?? '');
  return body;
}

/** @param {XMLHttpRequest} answer */
function showAnswer(answer) {
  const page = pageOf(answer);
  showSending(false);
  if (page === undefined) return say(refusal, refusalOf(answer));
  say(outcome, '');
  const link = part('link', HTMLAnchorElement);
  link.href = page;
  link.textContent = page;
  // As it came: numbers in it may be larger than those of JavaScript.
  part('record', HTMLElement).textContent = answer.responseText;
  form.hidden = true;
  done.hidden = false;
  part('done-name', HTMLElement).focus();
}

function begin() {
  done.hidden = true;
  form.hidden = false;
  say(outcome, '');
  forgetCaption();
  forgetChoice();
  part('media', HTMLInputElement).focus();
}

/** @param {boolean} isSending */
function showSending(isSending) {
  fields.disabled = isSending;
  sending.hidden = !isSending;
  if (!isSending) return part('submit', HTMLButtonElement).focus();
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
    sent.textContent = `${Math.floor((100 * loaded) / total)} %, ${sizeOf(loaded)} of ${sizeOf(total)}`;
    return;
  }
  progress.removeAttribute('value');
  sent.textContent = sizeOf(total);
  say(outcome, 'All of it is sent, and is being looked at.');
}

/**
 * Says something, to screen readers too, and where it can be seen: on a small screen the form is longer than that.
 *
 * @param {HTMLElement} place
 * @param {string} sentence
 */
function say(place, sentence) {
  for (const each of [outcome, refusal]) each.textContent = each === place ? sentence : '';
  place.scrollIntoView({ block: 'nearest' });
}

function showProof() {
  const proof = text(new FormData(form), 'proof');
  for (const kind of ['oauth', 'bearer']) {
    const secrets = part(`with-${kind}`, HTMLFieldSetElement);
    secrets.hidden = secrets.disabled = kind !== proof;
  }
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof Unreadable)
    return 'The file cannot be read: it is a folder, or was changed or moved. Please choose it again.';
  if (error instanceof Unanswered) return 'No answer came: the service cannot be reached, or the connection was lost.';
  return `That cannot be sent: ${error instanceof Error ? error.message : error}`;
}

/**
 * @param {FormData} data
 * @param {string} name
 */
function text(data, name) {
  const value = data.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
