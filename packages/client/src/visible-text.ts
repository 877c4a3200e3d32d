import { unsafeCharacters } from '@echodrop/service/terminal-text';

const breaks = /[\p{Cc}\u2028\u2029]+/gu;
// These symbols of Braille, Egyptian, Khitan and music have no ink, but are no white space.
const blanks = /[\s\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]+/gu;
// A row has a name and a value, which is untrusted text without gaps.
const nameOfRow = /^ +\S.*? {2,}/;
const words = /(\s*)(\S+)/gu;

// The fewest columns of a row: an indent, and a letter of two columns.
const minColumns = 4;

// Letters from Hangul on take two columns, and so do most pictures.
const wideFrom = '\u1100';
// In some terminals, Greek and Cyrillic letters and many symbols do, too.
const maybeWideFrom = '\u0080';

/** Untrusted text on one line, without characters that hide or reorder what a terminal shows, and without gaps of several blanks. */
export function visible(text: string): string {
  return text.replace(unsafeCharacters, ' ').replace(blanks, ' ');
}

/** Does what `visible` does, and cuts the text to so many columns of a terminal. */
export function visibleName(text: string, columns = 30): string {
  const shown = visible(text);
  if (columnsOf(shown) <= columns) return shown;
  return `${takeColumns(shown, columns - 1)}…`;
}

/** Does what `visibleName` does, as a string of JSON. */
export function quotedName(text: string, columns = 40): string {
  return JSON.stringify(visibleName(text, columns));
}

/** Text on one line, without control characters. Emoji and some scripts need the other hidden characters. */
export function singleLine(text: string): string {
  return text.replace(breaks, ' ');
}

/** Text with `replacement` in place of each hidden character. */
export function escapeHidden(text: string, replacement: (char: string) => string): string {
  return text.replace(unsafeCharacters, replacement);
}

/**
 * Breaks lines that are longer than `columns`, also within a word. Further rows have an indent, in a table up to the value, so that no untrusted
 * text begins a row.
 */
export function foldLines(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => foldLine(line, Math.max(columns, minColumns)))
    .join('\n');
}

function foldLine(line: string, columns: number): string {
  const rows: string[] = [];
  const indent = ' '.repeat(Math.min(nameOfRow.exec(line)?.[0].length ?? 4, columns / 2));
  let row = '';
  const add = (gap: string, piece: string) => {
    const isFull = row !== '' && columnsOf(row + gap + piece, maybeWideFrom) > columns;
    if (isFull) rows.push(row);
    row = isFull ? indent + piece : row + gap + piece;
  };
  for (const [, gap = '', word = ''] of line.matchAll(words))
    for (const [n, piece] of piecesOf(word, columns - indent.length).entries()) add(n === 0 ? gap : '', piece);
  return [...rows, row].join('\n');
}

function piecesOf(word: string, columns: number): string[] {
  const pieces: string[] = [];
  for (let rest = word; rest !== ''; rest = rest.slice(pieces.at(-1)?.length))
    pieces.push(takeColumns(rest, columns, maybeWideFrom));
  return pieces;
}

/** The first characters of `text` that fit into this many columns, at least two. */
function takeColumns(text: string, columns: number, firstWide = wideFrom): string {
  let taken = '';
  let used = 0;
  for (const character of text) {
    used += columnsOf(character, firstWide);
    if (used > columns) break;
    taken += character;
  }
  return taken;
}

/** The columns that `text` takes on most terminals. */
function columnsOf(text: string, firstWide = wideFrom): number {
  return Array.from(text, (character) => (character < firstWide ? 1 : 2)).reduce((sum, width) => sum + width, 0);
}
