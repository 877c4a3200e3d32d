import { showRendition } from '/scripts/rendition.js';

// The size of a preview in pixels: twice what the list shows.
const maxSide = 400;

/** The files of previews, which are shown once they come into view. */
const files: WeakMap<Element, File> = new WeakMap();
const observer = new IntersectionObserver(showVisible, { rootMargin: '50%' });

/** Resolves when the previous picture is small: a photo takes 50 MB while it is decoded. */
let before = Promise.resolve();

/** Shows a picture or video of this machine in `place` once it comes into view; nothing if the browser cannot show it. */
export function showPreview(place: HTMLElement, file: File) {
  if (!/^(image|video)\//.test(file.type)) return;
  place.hidden = false;
  files.set(place, file);
  observer.observe(place);
}

/** Shows the site's small picture of published media, whose page is `page`, if `place` has no picture of this machine. */
export function showPublishedPreview(place: HTMLElement, page: string, file: File) {
  if (place.querySelector('img')) return;
  clearPreview(place);
  place.hidden = false;
  const view = new Image();
  view.loading = 'lazy';
  const what = file.type.startsWith('video/') ? 'video' : 'picture';
  showRendition(place, view, `${new URL(page).pathname}/small.jpg`, what);
}

/** Removes the preview, and frees its memory. */
export function clearPreview(place: HTMLElement) {
  observer.unobserve(place);
  files.delete(place);
  for (const view of place.children) URL.revokeObjectURL(view.getAttribute('src') ?? '');
  place.replaceChildren();
  place.hidden = true;
}

function showVisible(entries: IntersectionObserverEntry[]) {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting || !(target instanceof HTMLElement)) continue;
    observer.unobserve(target);
    if (files.get(target)?.type.startsWith('video/')) showVideo(target);
    else before = before.then(() => showPicture(target));
  }
}

function showVideo(place: HTMLElement) {
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

async function showPicture(place: HTMLElement) {
  const file = files.get(place);
  if (!file) return;
  const small = await shrinkPicture(file).catch(() => undefined);
  // The file was removed or published meanwhile.
  if (files.get(place) !== file) return;
  if (!small) return clearPreview(place);
  const view = new Image();
  view.alt = `Preview of ${file.name}`;
  view.src = URL.createObjectURL(small);
  place.replaceChildren(view);
}

/** A small copy of a picture. @throws DOMException if the browser cannot show the picture */
async function shrinkPicture(picture: Blob): Promise<Blob | undefined> {
  const whole = await createImageBitmap(picture);
  try {
    const scale = Math.min(1, maxSide / Math.max(whole.width, whole.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(whole.width * scale);
    canvas.height = Math.ceil(whole.height * scale);
    canvas.getContext('2d')?.drawImage(whole, 0, 0, canvas.width, canvas.height);
    // Browsers without WebP make a PNG.
    return await new Promise((resolve) => canvas.toBlob((small) => resolve(small ?? undefined), 'image/webp'));
  } finally {
    whole.close();
  }
}
