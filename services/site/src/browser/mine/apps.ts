import { copyButton } from '/scripts/copy-button.js';
import { element } from '/scripts/elements.js';
import { clientOf, isSignInExpired } from '/scripts/service-client.js';
import { showSignInExpired } from '/scripts/sign-in-again.js';
import type { Session } from '/sign-in/page-settings.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { currentSession } from '/sign-in/session.js';
import type { Access } from './app-files.ts';
import { curlCommand, shareXFile, windowsCurlCommand } from './app-files.ts';
import { uploadScript } from './upload-script.ts';

const apps = element('apps', HTMLElement);

const session = currentSession();
if (session) {
  const { upload, apiKey = 'YOUR_API_KEY' } = pageSettings();
  const { provider, token } = session;
  showAll({ address: `${upload}/2/upload.json`, provider, authorization: `Bearer ${token}`, key: apiKey });
  showExpiry(session);
  apps.hidden = false;
  void checkToken(session);
}

function showExpiry({ expiresAt }: Session) {
  const expiry = new Date(expiresAt ?? Number.NaN);
  // A provider may name no time, or one beyond all dates.
  if (Number.isNaN(expiry.getTime())) return;
  const time = expiry.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
  element('expiry', HTMLElement).textContent = `, on ${time}`;
}

/** Files with a token that the provider no longer accepts would not work. */
async function checkToken(session: Session) {
  const isExpired = await clientOf(session)
    .list({ count: 1 })
    .then(() => false, isSignInExpired);
  if (!isExpired) return;
  apps.hidden = true;
  showSignInExpired(element('refusal', HTMLElement));
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
