// @ts-check
import { copyButton } from '/scripts/copy-button.js';
import { element, fromTemplate, partOf, unseen } from '/scripts/elements.js';
import { shortenCaption } from '/scripts/format.js';
import { showRendition } from '/scripts/rendition.js';

/** @typedef {Awaited<ReturnType<import('/scripts/client.js').EchodropClient['list']>>['records'][number]} Upload */

const spelled = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' });
const videoTypes = element('uploads', HTMLElement).dataset['videoTypes']?.split(' ') ?? [];

/**
 * An upload in the list: picture, caption, time, and buttons.
 *
 * @param {Upload} upload
 * @param {() => void} onDelete
 */
export function uploadItem(upload, onDelete) {
  const item = fromTemplate('item');
  const title = titleOf(upload);
  const link = partOf(item, '.title', HTMLAnchorElement);
  // At this origin, which may be another name of the site.
  link.href = `/${upload.id}`;
  link.textContent = title;
  showTime(partOf(item, 'time', HTMLTimeElement), upload.timestamp);
  showThumbnail(partOf(item, '.preview', HTMLElement), upload);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.append('Delete', unseen(` ${title}`));
  button.addEventListener('click', onDelete);
  const copy = copyButton('link', () => upload.url, { of: title });
  partOf(item, '.ways', HTMLElement).append(copy, button);
  return item;
}

/**
 * The caption, or else kind and time, which distinguish uploads.
 *
 * @param {Upload} upload
 */
export function titleOf({ text, type, timestamp }) {
  return shortenCaption(text) || `${isVideo(type) ? 'Video' : 'Photo'} of ${spelled.format(timestamp)}`;
}

/**
 * @param {HTMLTimeElement} place
 * @param {Date} time
 */
function showTime(place, time) {
  place.dateTime = time.toISOString();
  place.textContent = spelled.format(time);
}

/**
 * @param {HTMLElement} place
 * @param {Upload} upload
 */
function showThumbnail(place, { id, type }) {
  const picture = new Image(150, 150);
  picture.loading = 'lazy';
  showRendition(place, picture, `/${id}/thumb.jpg`, isVideo(type) ? 'video' : 'picture');
}

/** @param {string} type */
function isVideo(type) {
  return videoTypes.includes(type);
}
