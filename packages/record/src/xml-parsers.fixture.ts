import { readXml, type XmlContent } from '@echodrop/testkit/read-xml';
import { DOMParser, type Element } from '@xmldom/xmldom';

/** The texts of a document by their paths, such as `image/user/id`. */
export type Texts = Record<string, string>;

/** Two parsers that share no code, so that one reports what the other accepts. Both throw if a document is not well-formed. */
export const xmlParsers: readonly (readonly [string, (xml: string) => Texts])[] = [
  ['saxes', withSaxes],
  ['xmldom', withXmldom],
];

function withSaxes(xml: string): Texts {
  const { name, content } = readXml(xml);
  return Object.fromEntries(textsIn(content, name));
}

function textsIn(content: XmlContent, path: string): [string, string][] {
  if (typeof content === 'string') return [[path, content]];
  return Object.entries(content).flatMap(([name, within]) => textsIn(within, `${path}/${name}`));
}

function withXmldom(xml: string): Texts {
  const onError = (level: string, message: string) => {
    // It warns of every U+FFFD.
    if (level !== 'warning') throw new SyntaxError(message);
  };
  const root = new DOMParser({ onError }).parseFromString(xml, 'application/xml').documentElement;
  return root ? Object.fromEntries(textsOf(root)) : {};
}

function textsOf(element: Element, above = ''): [string, string][] {
  const path = above + element.tagName;
  const own = Array.from(element.childNodes, (node) => (node.nodeType === node.TEXT_NODE ? node.nodeValue : ''));
  return [[path, own.join('')], ...Array.from(element.children, (child) => textsOf(child, `${path}/`)).flat()];
}
