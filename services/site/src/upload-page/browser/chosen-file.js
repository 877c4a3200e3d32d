// @ts-check
import { element, formatSize } from './elements.js';

const input = element('media', HTMLInputElement);
const hint = element('media-hint', HTMLElement);
const preview = element('preview', HTMLElement);
const emptyHint = hint.textContent;

/** Accepts files dropped anywhere on the page while the form is enabled, and previews the chosen file. */
export function enableChoice() {
  input.addEventListener('change', show);
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    element('drop', HTMLElement).classList.add('over');
  });
  document.addEventListener('dragleave', clearHighlight);
  document.addEventListener('drop', (event) => {
    clearHighlight();
    if (!hasFiles(event)) return;
    // Otherwise the browser would open the file instead of the page.
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file && !input.matches(':disabled')) choose(file);
  });
  show();
}

/** Clears the choice. */
export function clearChoice() {
  input.value = '';
  show();
}

/**
 * Whether the chosen file can be read. A folder, or a file that was changed, moved or removed since, cannot.
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
  hint.textContent = file ? formatSize(file.size) : emptyHint;
  const view = file && previewOf(file);
  preview.replaceChildren(...(view ? [view] : []));
  preview.hidden = !view;
}

/**
 * A preview of the file; undefined if it is not a picture or video.
 *
 * @param {File} file
 */
function previewOf(file) {
  const [kind] = file.type.split('/');
  if (kind !== 'image' && kind !== 'video') return undefined;
  const view = kind === 'image' ? new Image() : document.createElement('video');
  if (view instanceof HTMLVideoElement) {
    view.muted = true;
    view.controls = true;
    view.setAttribute('aria-label', 'The chosen video');
  } else {
    view.alt = 'The chosen photo';
  }
  view.addEventListener('error', () => {
    preview.hidden = true;
  });
  view.src = URL.createObjectURL(file);
  return view;
}

function clearHighlight() {
  element('drop', HTMLElement).classList.remove('over');
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes('Files');
}
