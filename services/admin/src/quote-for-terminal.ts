const maxLength = 80;

/** Untrusted text in JSON quotes: one line of at most 80 characters, without control sequences for a terminal. */
export function quoteForTerminal(text: string): string {
  const characters = Array.from(text);
  const shown = characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : text;
  return JSON.stringify(shown).replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
