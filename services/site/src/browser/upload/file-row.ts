import { newIdempotencyKey } from '/scripts/client.js';
import { fromTemplate, partOf, unseen } from '/scripts/elements.js';
import { formatSize } from '/scripts/format.js';
import { validateAlternativeText, validateCaption } from './caption.ts';
import { isSignedIn } from './credentials.ts';
import { showPreview } from './preview.ts';

/** A chosen file in the list: `waiting` for a start, `busy` between start and end, `published`, or `unfit` to be sent. */
export type State = 'waiting' | 'busy' | 'published' | 'unfit';

let lastNumber = 0;

/** One row of the list of files. */
export class FileRow {
  readonly file: File;
  readonly root = fromTemplate('file-row');
  readonly preview = partOf(this.root, '.preview', HTMLElement);
  readonly caption = partOf(this.root, '[name=message]', HTMLTextAreaElement);
  readonly alt = partOf(this.root, '[name=alt]', HTMLTextAreaElement);
  readonly #texts = partOf(this.root, '.texts', HTMLElement);
  readonly #group = partOf(this.root, 'fieldset', HTMLFieldSetElement);
  readonly #stateLine = partOf(this.root, '.state', HTMLElement);
  readonly #button = partOf(this.root, 'button', HTMLButtonElement);
  readonly #bar = partOf(this.root, 'progress', HTMLProgressElement);
  state: State = 'waiting';
  /** Why the file was not accepted, if it was not. */
  fault = '';
  /** Bytes of the file that have been sent. */
  sent = 0;
  /** Whether the whole upload was sent and its outcome is unknown. */
  mayBePublished = false;
  #cancelling = new AbortController();
  #key = { value: '', texts: '' };

  constructor(file: File, fault: string | undefined, onRemove: (row: FileRow) => void) {
    this.file = file;
    partOf(this.root, '.name', HTMLElement).textContent = file.name;
    partOf(this.root, '.size', HTMLElement).textContent = formatSize(file.size);
    lastNumber += 1;
    this.#stateLine.id = `state-${lastNumber}`;
    this.#group.setAttribute('aria-describedby', this.#stateLine.id);
    this.#bar.setAttribute('aria-label', `Progress of ${file.name}`);
    this.#button.addEventListener('click', () => {
      if (this.state === 'busy') this.cancel();
      else onRemove(this);
    });
    validateCaption(this.caption);
    validateAlternativeText(this.alt);
    showPreview(this.preview, file);
    if (fault) this.refuse(fault, 'unfit');
    else this.#show('waiting', '');
  }

  /** Marks the beginning of an upload. @returns a signal that is aborted when the person cancels it */
  begin(): AbortSignal {
    this.#cancelling = new AbortController();
    this.sent = 0;
    this.#bar.value = 0;
    this.#show('busy', 'Queued.');
    return this.#cancelling.signal;
  }

  /** Another user has signed in: a repeat would be a second upload. */
  keepForOtherUser() {
    this.mayBePublished = false;
    this.refuse(
      'It may be published, by the user who was signed in before. To publish it again, choose it again.',
      'unfit',
    );
  }

  /** `why` is what the row then says. */
  cancel(why: string = 'Cancelled.') {
    this.#cancelling.abort(why);
  }

  /** Moves the focus to the row, with its state in view, and not to its button: Enter must not remove it. */
  focus() {
    this.#group.focus({ preventScroll: true });
    this.#stateLine.scrollIntoView({ block: 'nearest' });
  }

  /**
   * The Idempotency-Key of this file with its present texts: a repeat of the same upload gets the same record. An upload that may be published
   * keeps its texts.
   */
  key() {
    const texts = JSON.stringify([this.caption.value, this.alt.value]);
    if (this.#key.texts !== texts) this.#key = { value: newIdempotencyKey(), texts };
    return this.#key.value;
  }

  /** Shows how many bytes of the file are sent. */
  showProgress(sent: number) {
    const total = this.file.size;
    this.sent = sent;
    if (sent < total) {
      this.#bar.value = sent / total;
      this.#say(`${Math.floor((100 * sent) / total)} %, ${formatSize(sent)} of ${formatSize(total)}`);
      return;
    }
    this.mayBePublished = true;
    this.#bar.removeAttribute('value');
    this.#say('Sent. Processing.');
  }

  showWait(sentence: string) {
    this.#bar.removeAttribute('value');
    this.#say(sentence);
  }

  stop(sentence: string) {
    this.#show('waiting', sentence);
  }

  refuse(fault: string, state: State = 'waiting') {
    this.#show(state, fault);
    this.fault = fault;
    this.root.classList.add('refused');
  }

  publish() {
    this.sent = this.file.size;
    this.state = 'published';
  }

  #show(state: State, sentence: string) {
    const isBusy = state === 'busy';
    const hadFocus = document.activeElement === this.#button;
    this.state = state;
    this.fault = '';
    this.root.classList.remove('refused');
    this.#texts.hidden = state === 'unfit';
    this.caption.readOnly = this.alt.readOnly = isBusy || this.mayBePublished;
    this.#bar.hidden = !isBusy;
    this.#button.replaceChildren(isBusy ? 'Cancel' : 'Remove', unseen(` ${this.file.name}`));
    this.#say(sentence, ...(this.mayBePublished && !isBusy ? explainDoubt() : []));
    // A second press of "Cancel" would be one of "Remove".
    if (hadFocus && !isBusy) this.focus();
  }

  #say(...sentences: (string | Node)[]) {
    this.#stateLine.replaceChildren(...sentences);
  }
}

/** What a person should know about an upload that may be published. */
function explainDoubt(): (string | Node)[] {
  const link = document.createElement('a');
  link.href = '/mine';
  // The browser's Back would not bring back this list.
  link.target = '_blank';
  link.textContent = 'My uploads';
  const place = isSignedIn() ? [': look in ', link] : [];
  const texts = ' Its caption is locked, so that pressing Upload again cannot publish it twice.';
  return [' The whole file was sent, so it may be published', ...place, '.', texts];
}
