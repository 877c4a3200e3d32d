import { unsafeCharacters } from '@echodrop/service/terminal-text';

const breaks = /[\p{Cc}\u2028\u2029]+/gu;
// The blank of Braille is no white space.
const blanks = /[\s\u2800]+/gu;
// Of a row that has a name and a value, untrusted text without gaps.
const nameOfRow = /^ +\S.*? {2,}/;
const words = /[\s\u2800]*[^\s\u2800]+/gu;

/** Untrusted text on one line, without characters that hide or reorder what a terminal shows, and without gaps of several blanks. */
export function visible(text: string): string {
  return text.replace(unsafeCharacters, ' ').replace(blanks, ' ');
}

/** As `visible`, cut to this many columns of a terminal. */
export function visibleName(text: string, columns = 30): string {
  const shown = visible(text);
  if (columnsOf(shown) <= columns) return shown;
  let [kept, used] = ['', 1];
  for (const character of shown) {
    used += columnsOf(character);
    if (used > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** As `visibleName`, as a string of JSON. */
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

/** Breaks lines between words as a terminal of this width would, but with an indent, in a table that of the value: untrusted words never begin a row. */
export function foldLines(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => foldLine(line, columns))
    .join('\n');
}

function foldLine(line: string, columns: number): string {
  const rows: string[] = [];
  const indent = ' '.repeat(Math.min(nameOfRow.exec(line)?.[0].length ?? 4, columns / 2));
  let row = '';
  for (const word of line.match(words) ?? []) {
    if (row !== '' && columnsOf(row + word) > columns) {
      rows.push(row);
      row = `${indent}${word.replace(blanks, '')}`;
    } else row += word;
  }
  return [...rows, row].join('\n');
}

/** The most columns that `text` takes: some letters and most pictures take two. */
function columnsOf(text: string): number {
  return Array.from(text, (character) => (character < '\u1100' ? 1 : 2)).reduce((sum, width) => sum + width, 0);
}
