interface XmlNode {
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly childNodes: ArrayLike<XmlNode>;
}
interface XmlElement extends XmlNode {
  readonly tagName: string;
}
interface XmlDocument {
  readonly documentElement: XmlElement | null;
  getElementsByTagName(name: string): ArrayLike<XmlElement>;
}
type ParserClass = new () => { parseFromString(text: string, type: 'application/xml'): XmlDocument };

const elementNode = 1;

/** A response in XML as the object that its JSON would be, with texts as values. @throws Error if it is not well-formed */
export async function parseXml(body: string): Promise<unknown> {
  const document = new (await parserClass())().parseFromString(body, 'application/xml');
  const root = document.documentElement;
  // Browsers report a fault as an element.
  if (!root || document.getElementsByTagName('parsererror').length > 0) throw new SyntaxError('malformed XML');
  if (root.tagName === 'errors') return { errors: elements(root).map(asObject) };
  return root.tagName === 'image' ? asObject(root) : undefined;
}

// The parser is the browser's own or, without a browser, a package that is loaded for the first XML response.
async function parserClass(): Promise<ParserClass> {
  const own: ParserClass | undefined = Reflect.get(globalThis, 'DOMParser');
  if (own) return own;
  const { DOMParser, onWarningStopParsing: _, onErrorStopParsing } = await import('@xmldom/xmldom');
  return class {
    parseFromString(text: string, type: 'application/xml'): XmlDocument {
      return new DOMParser({ onError: onErrorStopParsing }).parseFromString(text, type) as unknown as XmlDocument;
    }
  };
}

function asObject(element: XmlElement): unknown {
  return Object.fromEntries(
    elements(element).map((child) => [child.tagName, elements(child).length > 0 ? asObject(child) : child.textContent]),
  );
}

function elements(parent: XmlElement): XmlElement[] {
  return Array.from(parent.childNodes).filter((node): node is XmlElement => node.nodeType === elementNode);
}
