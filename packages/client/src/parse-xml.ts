import type { DOMParser, Element } from '@xmldom/xmldom';

const elementNode = 1;

/** A response in XML as the object that its JSON would be, with texts as values. @throws Error if it is not well-formed */
export async function parseXml(body: string): Promise<unknown> {
  const document = (await newParser()).parseFromString(body, 'application/xml');
  const root = document.documentElement;
  // Browsers report a fault as an element.
  if (!root || document.getElementsByTagName('parsererror').length > 0) throw new SyntaxError('malformed XML');
  if (root.tagName === 'errors') return { errors: elements(root).map(asObject) };
  return root.tagName === 'image' ? asObject(root) : undefined;
}

/** The browser's own parser or, without a browser, the one of a package that is loaded for the first XML response. */
async function newParser(): Promise<DOMParser> {
  const own: unknown = Reflect.get(globalThis, 'DOMParser');
  if (typeof own === 'function') return new (own as new () => DOMParser)();
  const { DOMParser, onErrorStopParsing } = await import('@xmldom/xmldom');
  return new DOMParser({ onError: onErrorStopParsing });
}

function asObject(element: Element): unknown {
  return Object.fromEntries(
    elements(element).map((child) => [child.tagName, elements(child).length > 0 ? asObject(child) : child.textContent]),
  );
}

function elements(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node): node is Element => node.nodeType === elementNode);
}
