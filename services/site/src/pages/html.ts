import { htmlEscape } from 'escape-goat';

class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Markup that may be sent as it is. Only `html` makes it. */
export type Html = Markup;

type Content = string | number | Html | undefined | readonly Html[];

/**
 * Tags a template that is HTML: every value is escaped, for text and for attributes in double quotes; only what `html` itself made goes in as it
 * is, and undefined is left out.
 */
export function html(literals: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Markup(literals.reduce((text, literal, i) => text + inserted(contents[i - 1]) + literal));
}

function inserted(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Markup) return content.toString();
  if (Array.isArray(content)) return content.map(inserted).join('');
  return htmlEscape(String(content));
}
