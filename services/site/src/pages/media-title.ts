import { isPhoto } from '@echodrop/media/media-type';
import type { PublishedMedia } from '../find/find-media.ts';

const longestTitle = 70;
const longestName = 40;

/** What media is called in one line: its caption, or else whose it is. */
export function titleOf(record: PublishedMedia): string {
  return captionOf(record, longestTitle) ?? bylineOf(record);
}

/** The caption in one line of at most `most` letters, or undefined where there is nothing to be seen in it. */
export function captionOf({ text }: PublishedMedia, most: number): string | undefined {
  return oneLine(text, most) || undefined;
}

/** "Photo by ada". */
export function bylineOf(record: PublishedMedia): string {
  return `${isPhoto(record.type) ? 'Photo' : 'Video'} by ${nameOf(record)}`;
}

/** The user's name in one line. */
export function nameOf({ user }: PublishedMedia): string {
  return oneLine(user.screenName, longestName) || 'someone';
}

// What turns the direction of the text around it would turn that of whoever shows the line.
const turning = /[\u202a-\u202e\u2066-\u2069]/g;
const gaps = /[\p{White_Space}\p{Cc}]+/gu;
const unseen = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
const letters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A text without what would turn the direction of the text after it. */
export function withoutTurning(text: string): string {
  return text.replace(turning, '');
}

/** A text in one line of at most `most` UTF-16 units, cut between letters as people see them; empty where it shows nothing. */
export function oneLine(text: string, most: number): string {
  const line = withoutTurning(text.toWellFormed()).replace(gaps, ' ').trim();
  if (unseen.test(line)) return '';
  return line.length > most ? `${beginning(line, most - 1).trimEnd()}…` : line;
}

function beginning(line: string, most: number): string {
  let kept = '';
  for (const { segment } of letters.segment(line.slice(0, 2 * most))) {
    if (kept.length + segment.length > most) break;
    kept += segment;
  }
  // One letter under a thousand accents.
  return kept || line.slice(0, most).toWellFormed();
}
