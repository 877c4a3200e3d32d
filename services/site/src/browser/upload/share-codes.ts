import { copyButton } from '/scripts/copy-button.js';

const requestMs = 15_000;

/** Adds a Copy button for the link to the page of the media, and for each embed code that the page offers. */
export async function addCopyButtons(place: HTMLElement, page: string, title: string) {
  place.append(copyButton('link', () => page, { of: title }));
  // A page that cannot be read now has its codes when the person opens it.
  const codes = await embedCodes(page).catch(() => []);
  for (const [name, code] of codes) place.append(copyButton(name, () => code, { of: title }));
}

/** The codes in the share section of a page. @throws Error if the page cannot be read */
async function embedCodes(page: string): Promise<[name: string, code: string][]> {
  // The same page at this origin, which may be another name of the site.
  const response = await fetch(`${new URL(page).pathname}?wait=0`, { signal: AbortSignal.timeout(requestMs) });
  const { body } = new DOMParser().parseFromString(await response.text(), 'text/html');
  return ['Markdown', 'HTML', 'BBCode'].flatMap((name) => {
    const code = body.querySelector(`#share-${name.toLowerCase()}`)?.getAttribute('value');
    return code ? [[name, code]] : [];
  });
}
