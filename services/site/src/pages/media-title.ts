import { isPhoto } from '@echodrop/media/detect-media-type';
import type { PublishedMedia } from '../find/find-media.ts';

const maxTitle = 70;
const maxName = 40;

/** The title of media in one line: its caption, or its byline. */
export function titleOf(record: PublishedMedia): string {
  return captionOf(record, maxTitle) ?? bylineOf(record);
}

/** The caption in one line of at most `max` UTF-16 units; undefined if nothing in it is visible. */
export function captionOf({ text }: PublishedMedia, max: number): string | undefined {
  return oneLine(text, max) || undefined;
}

/** What media shows, for people who cannot see it: its alternative text, or its title. */
export function labelOf(record: PublishedMedia): string {
  return alternativeTextOf(record) ?? titleOf(record);
}

/** The alternative text in one line of at most `max` UTF-16 units; undefined if nothing in it is visible. */
export function alternativeTextOf({ alt = '' }: PublishedMedia, max = Number.POSITIVE_INFINITY): string | undefined {
  return oneLine(alt, max) || undefined;
}

/** "Photo by ada". */
export function bylineOf(record: PublishedMedia): string {
  return `${isPhoto(record.type) ? 'Photo' : 'Video'} by ${nameOf(record)}`;
}

/** The user's name in one line. */
export function nameOf({ user }: PublishedMedia): string {
  return oneLine(user.screenName, maxName) || 'someone';
}

// These characters would change the direction of surrounding text.
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/g;
const gaps = /[\p{White_Space}\p{Cc}]+/gu;
const invisible = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Removes characters that change the direction of surrounding text. */
export function withoutDirectionMarks(text: string): string {
  return text.replace(directionMarks, '');
}

/** A text in one line of at most `max` UTF-16 units, cut between graphemes; empty if nothing in it is visible. */
export function oneLine(text: string, max: number): string {
  const line = withoutDirectionMarks(text.toWellFormed()).replace(gaps, ' ').trim();
  if (invisible.test(line)) return '';
  return line.length > max ? `${beginning(line, max - 1).trimEnd()}…` : line;
}

function beginning(line: string, max: number): string {
  let kept = '';
  for (const { segment } of graphemes.segment(line.slice(0, 2 * max))) {
    if (kept.length + segment.length > max) break;
    kept += segment;
  }
  // A single grapheme may be longer than `max`.
  return kept || line.slice(0, max).toWellFormed();
}
