// @ts-check

const limitMs = 10_000;

/**
 * Shows a rendition in `place`, or why there is none.
 *
 * @param {HTMLElement} place
 * @param {HTMLImageElement} picture
 * @param {string} path
 * @param {string} what the media is: "picture" or "video"
 */
export function showRendition(place, picture, path, what) {
  picture.alt = '';
  picture.addEventListener('error', async () => {
    const status = await statusOf(path);
    place.hidden = false;
    // It was made meanwhile.
    if (status === 200 && !picture.src.endsWith('?again')) picture.src = `${path}?again`;
    else place.replaceChildren(absence(status, what));
  });
  picture.src = path;
  place.replaceChildren(picture);
}

/**
 * @param {number | undefined} status
 * @param {string} what
 */
function absence(status, what) {
  if (status === 404) return `This ${what} cannot be displayed.`;
  return status === 503 ? 'Preview not ready yet.' : 'No preview.';
}

/** @param {string} path */
async function statusOf(path) {
  try {
    const { status } = await fetch(path, { method: 'HEAD', signal: AbortSignal.timeout(limitMs) });
    return status;
  } catch {
    return undefined;
  }
}
