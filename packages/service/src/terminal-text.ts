// Controls (C0, DEL, C1), format characters (directions, zero width, tags) and others without a shape, separators of lines and paragraphs,
// and lone surrogates.
const unsafe = String.raw`\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}`;
/** Each character that could change how a terminal shows a line. */
export const unsafeCharacters = new RegExp(`[${unsafe}]`, 'gu');
const unsafeInLines = new RegExp(`(?!\n)[${unsafe}]`, 'gu');

/** One line of text that may come from outside, for a terminal or a log: characters that could change how it shows are `\uXXXX`. A line of JSON keeps its value. */
export function escapeLine(text: string): string {
  return text.replace(unsafeCharacters, escapeCharacter);
}

/** Does what `escapeLine` does, for text of several lines. */
export function escapeLines(text: string): string {
  return text.replace(unsafeInLines, escapeCharacter);
}

/** Does what `escapeLine` does, in JSON quotes, and cuts the text to `maxCharacters`. */
export function quoteForTerminal(text: string, maxCharacters = 80): string {
  return escapeLine(JSON.stringify(shorten(text, maxCharacters)));
}

/** Cuts text to `maxCharacters`, of which the last is then `…`. */
export function shorten(text: string, maxCharacters: number): string {
  const characters = Array.from(text);
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : text;
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, n) => character.charCodeAt(n));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
