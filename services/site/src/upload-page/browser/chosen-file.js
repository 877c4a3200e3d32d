// @ts-check
import { part, sizeOf } from './parts.js';

const input = part('media', HTMLInputElement);
const hint = part('media-hint', HTMLElement);
const preview = part('preview', HTMLElement);
const unchosen = hint.textContent;

/** Lets a file be dropped anywhere on the page while the form can be filled in, and shows whatever was chosen. */
export function followChoice() {
  input.addEventListener('change', show);
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    part('drop', HTMLElement).classList.add('over');
  });
  document.addEventListener('dragleave', leave);
  document.addEventListener('drop', (event) => {
    leave();
    if (!hasFiles(event)) return;
    // A file that is dropped beside the form would take the page's place.
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file && !input.matches(':disabled')) choose(file);
  });
  show();
}

/** Nothing is chosen any more. */
export function forgetChoice() {
  input.value = '';
  show();
}

/**
 * Whether what was chosen can still be read: a file that was changed, moved or removed since cannot.
 *
 * @param {FormDataEntryValue | null} file
 */
export async function isReadable(file) {
  if (!(file instanceof File)) return false;
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}

/** @param {File} file */
function choose(file) {
  const files = new DataTransfer();
  files.items.add(file);
  input.files = files.files;
  show();
}

function show() {
  const [file] = input.files ?? [];
  for (const shown of preview.children) URL.revokeObjectURL(shown.getAttribute('src') ?? '');
  hint.textContent = file ? sizeOf(file.size) : unchosen;
  const seen = file && viewOf(file);
  preview.replaceChildren(...(seen ? [seen] : []));
  preview.hidden = !seen;
}

/**
 * What shows the file; undefined where browsers show no such thing.
 *
 * @param {File} file
 */
function viewOf(file) {
  const [kind] = file.type.split('/');
  if (kind !== 'image' && kind !== 'video') return undefined;
  const view = kind === 'image' ? new Image() : document.createElement('video');
  if (view instanceof HTMLVideoElement) {
    view.muted = true;
    view.controls = true;
    view.setAttribute('aria-label', 'The video that you chose');
  } else {
    view.alt = 'The photo that you chose';
  }
  view.addEventListener('error', () => {
    preview.hidden = true;
  });
  view.src = URL.createObjectURL(file);
  return view;
}

function leave() {
  part('drop', HTMLElement).classList.remove('over');
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes('Files');
}
