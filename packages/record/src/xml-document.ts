import { create } from 'xmlbuilder2';

/** Element names to text or further elements; order is kept. */
export interface XmlElements {
  readonly [name: string]: string | number | XmlElements;
}

/**
 * A compact XML 1.0 document whose declaration is the first byte. Every text comes out of a parser as it went in, but for
 * characters that XML 1.0 forbids, which become U+FFFD; a CR is written as `&#xD;`, or a parser would make it a line feed.
 */
export function xmlDocument(elements: XmlElements): string {
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' });
  append(document, elements);
  return document.end().replaceAll('\r', '&#xD;');
}

// Node by node, not as one object: there a key or a text of xmlbuilder2's own notation (`@`, `#`, `$`) would be understood.
function append(parent: ReturnType<typeof create>, elements: XmlElements): void {
  for (const [name, content] of Object.entries(elements)) {
    const element = parent.ele(name);
    if (typeof content === 'object') append(element, content);
    else element.txt(String(content));
  }
}
