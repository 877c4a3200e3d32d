import { copyButton } from '/scripts/copy-button.js';
import { element } from '/scripts/elements.js';
import type { FileToken } from '/sign-in/file-token.js';
import { takeFileToken } from '/sign-in/file-token.js';
import type { Session } from '/sign-in/page-settings.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { currentSession } from '/sign-in/session.js';
import type { Access } from './app-files.ts';
import { curlCommand, shareXFile, windowsCurlCommand } from './app-files.ts';
import { uploadScript } from './upload-script.ts';

const apps = element('apps', HTMLElement);

const make = element('make', HTMLElement);

const session = currentSession();
if (session) {
  make.hidden = false;
  element('make-files', HTMLButtonElement).addEventListener('click', () => void signInForFiles(session));
  // Also if the browser's Back, or the end of a sign-in, shows this page as it was left.
  window.addEventListener('pageshow', showFiles);
}

/** Signs in once more: the files get a token of their own. */
async function signInForFiles({ provider, providerName }: Session) {
  const refusal = element('refusal', HTMLElement);
  refusal.replaceChildren();
  try {
    const { beginSignIn } = await import('/sign-in/sign-in.js');
    const offered = pageSettings().providers.find((each) => each.provider === provider);
    if (offered) await beginSignIn(offered, 'files');
  } catch (error) {
    const { faultMessage } = await import('/sign-in/fault.js');
    refusal.textContent = faultMessage(error, providerName);
  }
}

function showFiles() {
  const found = takeFileToken();
  if (!found) return;
  const { upload, apiKey = 'YOUR_API_KEY' } = pageSettings();
  const { provider, token, name } = found;
  showAll({ address: `${upload}/2/upload.json`, provider, authorization: `Bearer ${token}`, key: apiKey });
  element('owner', HTMLElement).textContent = name;
  showExpiry(found);
  make.hidden = true;
  apps.hidden = false;
}

function showExpiry({ expiresAt }: FileToken) {
  const expiry = new Date(expiresAt ?? Number.NaN);
  // A provider may name no time, or one beyond all dates.
  if (Number.isNaN(expiry.getTime())) return;
  const time = expiry.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
  element('expiry', HTMLElement).textContent = `, on ${time}`;
}

function showAll(access: Access) {
  showFile('sharex', shareXFile(access, location.host), `${location.hostname}.sxcu`);
  showFile('script', uploadScript(access), 'echodrop-upload');
  showFile('curl', curlCommand(access));
  const windowsCurl = windowsCurlCommand(access);
  element('windows-curl', HTMLElement).hidden = windowsCurl === undefined;
  if (windowsCurl !== undefined) showFile('windows-curl', windowsCurl);
  for (const place of document.querySelectorAll('[data-value]')) {
    const name = place.getAttribute('data-value') ?? '';
    const value = Reflect.get(access, name);
    place.textContent = value;
    const what = place.getAttribute('data-label') ?? name;
    // The button is outside of closed details, so that people can press it.
    (place.closest('details') ?? place).after(
      ' ',
      copyButton(what, () => value, { hidesWhat: true }),
    );
  }
}

/** Shows the text of a file, with a button that copies it, and one that saves it under `fileName`. */
function showFile(id: string, text: string, fileName?: string) {
  element(`${id}-text`, HTMLElement).textContent = text;
  const ways = element(`${id}-ways`, HTMLElement);
  if (fileName !== undefined) ways.append(downloadLink(text, fileName));
  ways.append(copyButton(ways.dataset['what'] ?? '', () => text));
}

function downloadLink(text: string, fileName: string) {
  const link = document.createElement('a');
  link.className = 'button';
  link.download = fileName;
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.textContent = `Download ${fileName}`;
  return link;
}
