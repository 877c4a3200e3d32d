import { create } from 'xmlbuilder2';

/** Element names to text or further elements, or to several of the same name; order is kept. */
export interface XmlElements {
  readonly [name: string]: string | number | XmlElements | readonly XmlElements[];
}

// XML 1.0 makes a CR a line feed unless it is a reference; parsers that follow XML 1.1 do so with the other three too.
const madeLineFeeds = /[\r\u0085\u2028\u2029]/g;

/**
 * A compact XML 1.0 document whose declaration is the first byte. Every text comes out of a parser as it went in, but for
 * characters that XML 1.0 forbids, which become U+FFFD.
 */
export function xmlDocument(elements: XmlElements): string {
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' });
  append(document, elements);
  return document.end().replace(madeLineFeeds, reference);
}

// Node by node, not as one object: there a key or a text of xmlbuilder2's own notation (`@`, `#`, `$`) would be understood.
function append(parent: ReturnType<typeof create>, elements: XmlElements): void {
  for (const [name, contents] of Object.entries(elements)) {
    for (const content of Array.isArray(contents) ? contents : [contents]) {
      const element = parent.ele(name);
      if (typeof content === 'object') append(element, content);
      // xmlbuilder2 takes `&amp;`, and even `&nbsp;` and `&#0;`, for references that are meant, and escapes only what looks like none.
      else element.txt(String(content).replaceAll('&', '&amp;'));
    }
  }
}

function reference(character: string): string {
  return `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
}
