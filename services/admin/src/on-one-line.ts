const longest = 80;

/** Text of anybody in quotes, as JSON has it: no line ends in it, no terminal obeys it, and it has 80 letters at most. */
export function onOneLine(text: string): string {
  const letters = Array.from(text);
  const shown = letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : text;
  return JSON.stringify(shown).replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
