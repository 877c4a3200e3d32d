import type { EchodropClient } from '/scripts/client.js';
import { copyButton } from '/scripts/copy-button.js';
import { element, fromTemplate, partOf, unseen } from '/scripts/elements.js';
import { shortenCaption } from '/scripts/format.js';
import { showRendition } from '/scripts/rendition.js';

export type Upload = Awaited<ReturnType<EchodropClient['list']>>['records'][number];

const spelled = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' });
const videoTypes = element('uploads', HTMLElement).dataset['videoTypes']?.split(' ') ?? [];

/** An upload in the list: picture, caption, time, and buttons. */
export function uploadItem(upload: Upload, onDelete: () => void) {
  const item = fromTemplate('item');
  const title = titleOf(upload);
  const link = partOf(item, '.title', HTMLAnchorElement);
  // The link stays at this origin, which may be another name of the site.
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

/** The title of an upload: its caption, or else kind and time, which distinguish uploads. */
export function titleOf({ text, type, timestamp }: Upload) {
  return shortenCaption(text) || `${isVideo(type) ? 'Video' : 'Photo'} of ${spelled.format(timestamp)}`;
}

function showTime(place: HTMLTimeElement, time: Date) {
  place.dateTime = time.toISOString();
  place.textContent = spelled.format(time);
}

function showThumbnail(place: HTMLElement, { id, type }: Upload) {
  const picture = new Image(150, 150);
  picture.loading = 'lazy';
  showRendition(place, picture, `/${id}/thumb.jpg`, isVideo(type) ? 'video' : 'picture');
}

function isVideo(type: string) {
  return videoTypes.includes(type);
}
