import { htmlEscape } from 'escape-goat';

/** Markup that is sent as it is. Only `html` creates it. */
class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Html = Markup;

type Content = string | number | Html | undefined | readonly Html[];

/** Template tag for HTML. Escapes every value for text and double-quoted attributes, except other `html`; omits undefined. */
export function html(literals: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Markup(literals.reduce((text, literal, i) => text + render(contents[i - 1]) + literal));
}

function render(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Markup) return content.toString();
  if (Array.isArray(content)) return content.map(render).join('');
  return htmlEscape(String(content));
}
