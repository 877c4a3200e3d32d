const limitMs = 10_000;

/** Shows a rendition in `place`, or why there is none. `what` names the media: "picture" or "video". */
export function showRendition(place: HTMLElement, picture: HTMLImageElement, path: string, what: string) {
  picture.alt = '';
  picture.addEventListener('error', async () => {
    const status = await statusOf(path);
    place.hidden = false;
    // The rendition was made meanwhile.
    if (status === 200 && !picture.src.endsWith('?again')) picture.src = `${path}?again`;
    else place.replaceChildren(absence(status, what));
  });
  picture.src = path;
  place.replaceChildren(picture);
}

function absence(status: number | undefined, what: string) {
  if (status === 404) return `This ${what} cannot be displayed.`;
  return status === 503 ? 'Preview not ready yet.' : 'No preview.';
}

async function statusOf(path: string) {
  try {
    const { status } = await fetch(path, { method: 'HEAD', signal: AbortSignal.timeout(limitMs) });
    return status;
  } catch {
    return undefined;
  }
}
