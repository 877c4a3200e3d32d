import { unsafeCharacters } from '@echodrop/service/terminal-text';

const breaks = /[\p{Cc}\u2028\u2029]+/gu;

/** Untrusted text on one line, without characters that hide or reorder what a terminal shows. */
export function visible(text: string): string {
  return singleLine(text).replace(unsafeCharacters, ' ');
}

/** Text on one line, without control characters. Emoji and some scripts need the other hidden characters. */
export function singleLine(text: string): string {
  return text.replace(breaks, ' ');
}

/** Text with `replacement` in place of each hidden character. */
export function escapeHidden(text: string, replacement: (char: string) => string): string {
  return text.replace(unsafeCharacters, replacement);
}
