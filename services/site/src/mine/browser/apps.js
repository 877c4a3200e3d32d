// @ts-check
import { copyButton } from '/scripts/copy-button.js';
import { element } from '/scripts/elements.js';
import { credentialHeaders, currentSession, settings } from '/sign-in/session.js';
import { curlCommand, shareXFile } from './app-files.js';
import { uploadScript } from './upload-script.js';

/** @import { Access } from './app-files.js' */

const session = currentSession();
if (session) {
  const { upload, apiKey = 'YOUR_API_KEY' } = settings();
  const headers = credentialHeaders(session);
  showAll({
    address: `${upload}/2/upload.json`,
    provider: headers['X-Auth-Service-Provider'],
    authorization: headers['X-Verify-Credentials-Authorization'],
    key: apiKey,
  });
  element('apps', HTMLElement).hidden = false;
}

/** @param {Access} access */
function showAll(access) {
  showFile('sharex', shareXFile(access, location.host), `${location.hostname}.sxcu`);
  showFile('script', uploadScript(access), 'echodrop-upload');
  showFile('curl', curlCommand(access));
  for (const place of document.querySelectorAll('[data-value]')) {
    const name = place.getAttribute('data-value') ?? '';
    const value = Reflect.get(access, name);
    place.textContent = value;
    const what = place.getAttribute('data-label') ?? name;
    // Outside of closed details, where people can press it.
    (place.closest('details') ?? place).after(
      ' ',
      copyButton(what, () => value, { hidesWhat: true }),
    );
  }
}

/**
 * Shows the text of a file, with a button that copies it, and one that saves it under `fileName`.
 *
 * @param {string} id
 * @param {string} text
 * @param {string} [fileName]
 */
function showFile(id, text, fileName) {
  element(`${id}-text`, HTMLElement).textContent = text;
  const ways = element(`${id}-ways`, HTMLElement);
  if (fileName !== undefined) ways.append(downloadLink(text, fileName));
  ways.append(copyButton(ways.dataset['what'] ?? '', () => text));
}

/**
 * @param {string} text
 * @param {string} fileName
 */
function downloadLink(text, fileName) {
  const link = document.createElement('a');
  link.className = 'button';
  link.download = fileName;
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.textContent = `Download ${fileName}`;
  return link;
}
