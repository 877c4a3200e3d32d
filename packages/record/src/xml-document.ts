import { create } from 'xmlbuilder2';

/** Text or child elements by element name, in order; an array repeats the element. */
interface XmlElements {
  readonly [name: string]: string | number | XmlElements | readonly XmlElements[];
}

// Parsers turn a CR that is no reference into a line feed; those of XML 1.1 also U+0085 and U+2028. U+2029 breaks lines in other programs.
const lineBreaks = /[\r\u0085\u2028\u2029]/g;

/** A compact XML 1.0 document. Parsers read every text unchanged, except characters that XML 1.0 forbids: these become U+FFFD. */
export function xmlDocument(elements: XmlElements): string {
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' });
  append(document, elements);
  return document.end().replace(lineBreaks, reference);
}

// Node by node: in one object, xmlbuilder2 would interpret its notation (`@`, `#`, `$`) in keys and texts.
function append(parent: ReturnType<typeof create>, elements: XmlElements): void {
  for (const [name, contents] of Object.entries(elements)) {
    for (const content of Array.isArray(contents) ? contents : [contents]) {
      const element = parent.ele(name);
      if (typeof content === 'object') append(element, content);
      // xmlbuilder2 does not escape an ampersand that begins a reference, such as `&amp;`, `&nbsp;` or `&#0;`.
      else element.txt(String(content).replaceAll('&', '&amp;'));
    }
  }
}

function reference(character: string): string {
  return `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
}
