// @ts-check
import { showRendition } from '/scripts/rendition.js';
import { shrinkPicture } from './shrink-picture.js';

/** What previews show, once they come into view. @type {WeakMap<Element, File>} */
const files = new WeakMap();
const observer = new IntersectionObserver(showVisible, { rootMargin: '50%' });

/** Ends when the picture before is small: a photo takes 50 MB while it is decoded. */
let before = Promise.resolve();

/**
 * Shows a picture or video of this machine in `place` once it comes into view; nothing if the browser cannot show it.
 *
 * @param {HTMLElement} place
 * @param {File} file
 */
export function showPreview(place, file) {
  if (!/^(image|video)\//.test(file.type)) return;
  place.hidden = false;
  files.set(place, file);
  observer.observe(place);
}

/**
 * Shows the site's small picture of published media if `place` has no picture of this machine.
 *
 * @param {HTMLElement} place
 * @param {string} page the address of the page
 * @param {File} file
 */
export function showPublishedPreview(place, page, file) {
  if (place.querySelector('img')) return;
  clearPreview(place);
  place.hidden = false;
  const view = new Image();
  view.loading = 'lazy';
  const what = file.type.startsWith('video/') ? 'video' : 'picture';
  showRendition(place, view, `${new URL(page).pathname}/small.jpg`, what);
}

/**
 * Removes the preview, and frees its memory.
 *
 * @param {HTMLElement} place
 */
export function clearPreview(place) {
  observer.unobserve(place);
  files.delete(place);
  for (const view of place.children) URL.revokeObjectURL(view.getAttribute('src') ?? '');
  place.replaceChildren();
  place.hidden = true;
}

/** @param {IntersectionObserverEntry[]} entries */
function showVisible(entries) {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting || !(target instanceof HTMLElement)) continue;
    observer.unobserve(target);
    if (files.get(target)?.type.startsWith('video/')) showVideo(target);
    else before = before.then(() => showPicture(target));
  }
}

/** @param {HTMLElement} place */
function showVideo(place) {
  const file = files.get(place);
  if (!file) return;
  const view = document.createElement('video');
  view.muted = true;
  view.controls = true;
  view.preload = 'metadata';
  view.setAttribute('aria-label', `Preview of ${file.name}`);
  view.addEventListener('error', () => {
    if (place.contains(view)) clearPreview(place);
  });
  view.src = URL.createObjectURL(file);
  place.replaceChildren(view);
}

/** @param {HTMLElement} place */
async function showPicture(place) {
  const file = files.get(place);
  if (!file) return;
  const small = await shrinkPicture(file).catch(() => undefined);
  // It was removed or published meanwhile.
  if (files.get(place) !== file) return;
  if (!small) return clearPreview(place);
  const view = new Image();
  view.alt = `Preview of ${file.name}`;
  view.src = URL.createObjectURL(small);
  place.replaceChildren(view);
}
