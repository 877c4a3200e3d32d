import type { MediaRecord } from '@echodrop/record';
import { recordFields } from '@echodrop/record/response-fields';
import { escapeMarkdown as escapeMarkup } from '../escape-markdown.ts';
import { toExactJson } from '../exact-json.ts';
import { escapeHidden, singleLine, visible } from '../visible-text.ts';

export const outputs = ['url', 'json', 'markdown', 'html'] as const;
export type Output = (typeof outputs)[number];

const photoTypes = ['jpg', 'png', 'gif', 'webp', 'avif', 'heic', 'tiff', 'bmp'];

/** The record as the user wants it printed. `alt` is the alternative text of this upload. */
export function showRecord(record: MediaRecord, output: Output, alt: string | undefined): string {
  const { type, text, user } = record;
  const isPhoto = photoTypes.includes(type);
  const url = visible(record.url);
  const words = singleLine(alt || text || `${isPhoto ? 'Photo' : 'Video'} by ${user.screenName}`).trim();
  // A GIF may move. Other pictures of its upload do not.
  const address = type === 'gif' ? `${url}.gif` : `${url}/large.jpg`;
  const picture = isPhoto ? address : undefined;
  switch (output) {
    case 'url':
      return url;
    case 'json':
      return recordToExactJson(record);
    case 'markdown':
      return linkMarkdown(picture ? `!${linkMarkdown(escapeMarkdown(words), picture)}` : escapeMarkdown(words), url);
    case 'html': {
      const shown = picture ? `<img src="${escapeHtml(picture)}" alt="${escapeHtml(words)}">` : escapeHtml(words);
      return `<a href="${escapeHtml(url)}">${shown}</a>`;
    }
  }
}

/** The record as the service writes it, with all digits of the user's id. */
export function recordToExactJson(record: MediaRecord): string {
  return toExactJson(recordFields(record, record.user.id));
}

function linkMarkdown(words: string, address: string): string {
  return `[${words}](${new URL(address).href.replace(/[()]/g, (char) => (char === '(' ? '%28' : '%29'))})`;
}

function escapeMarkdown(text: string): string {
  return escapeHidden(escapeMarkup(text), toReference);
}

function escapeHtml(text: string): string {
  return escapeHidden(text.replace(/[&<>"']/g, toReference), toReference);
}

/** Markdown has character references, too. */
function toReference(char: string): string {
  return `&#${char.codePointAt(0)};`;
}
