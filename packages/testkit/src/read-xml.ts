import { SaxesParser } from 'saxes';

interface XmlElement {
  readonly name: string;
  /** Its text, or the contents of its child elements by name. */
  readonly content: XmlContent;
}

export type XmlContent = string | { readonly [name: string]: XmlContent };

/**
 * The root element of a document without attributes and without duplicate siblings.
 * @throws Error if the document is different or not well-formed
 */
export function readXml(document: string): XmlElement {
  const parser = new SaxesParser();
  const open: { name: string; text: string; elements: Map<string, XmlContent> }[] = [
    { name: '', text: '', elements: new Map() },
  ];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (Object.keys(attributes).length > 0) throw new Error(`<${name}> has attributes`);
    open.push({ name, text: '', elements: new Map() });
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', ({ name }) => {
    const closed = open.pop();
    const parent = open.at(-1);
    if (parent?.elements.has(name)) throw new Error(`duplicate <${name}>`);
    if (closed)
      parent?.elements.set(name, closed.elements.size > 0 ? Object.fromEntries(closed.elements) : closed.text);
  });
  parser.write(document).close();
  const [root] = open[0]?.elements ?? [];
  if (!root) throw new Error('no element found');
  return { name: root[0], content: root[1] };
}
