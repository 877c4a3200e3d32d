// @ts-check
import { showRendition } from '/scripts/rendition.js';

/**
 * Shows a picture or video of this machine in `place`; nothing if the browser cannot show it.
 *
 * @param {HTMLElement} place
 * @param {File} file
 */
export function showPreview(place, file) {
  const [kind] = file.type.split('/');
  if (kind !== 'image' && kind !== 'video') return;
  const view = kind === 'image' ? new Image() : document.createElement('video');
  if (view instanceof HTMLVideoElement) {
    view.muted = true;
    view.controls = true;
    view.setAttribute('aria-label', `Preview of ${file.name}`);
  } else {
    view.alt = `Preview of ${file.name}`;
    view.decoding = 'async';
  }
  view.addEventListener('error', () => clearPreview(place));
  view.src = URL.createObjectURL(file);
  place.replaceChildren(view);
  place.hidden = false;
}

/**
 * Shows the site's small picture of published media, for files that the browser cannot show itself.
 *
 * @param {HTMLElement} place
 * @param {string} page the address of the page
 * @param {File} file
 */
export function showPublishedPreview(place, page, file) {
  const view = new Image();
  view.addEventListener('load', () => {
    place.hidden = false;
  });
  const what = file.type.startsWith('video/') ? 'video' : 'picture';
  showRendition(place, view, `${new URL(page).pathname}/small.jpg`, what);
}

/**
 * Removes the preview, and frees its memory.
 *
 * @param {HTMLElement} place
 */
export function clearPreview(place) {
  for (const view of place.children) URL.revokeObjectURL(view.getAttribute('src') ?? '');
  place.replaceChildren();
  place.hidden = true;
}
