import { type DefaultTreeAdapterMap, parse } from 'parse5';

export interface ReadPage {
  readonly address: string;
  readonly html: string;
  readonly elements: readonly ReadElement[];
}

interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

export function readHtml(html: string, address: string): ReadPage {
  return { address, html, elements: elementsIn(parse(html)) };
}

/** The content of the first `meta` of a property or name. */
export function metaOf({ elements }: ReadPage, key: string): string | undefined {
  const found = elements.find(
    ({ name, attributes }) => name === 'meta' && (attributes['property'] === key || attributes['name'] === key),
  );
  return found?.attributes['content'];
}

/** The page's link to oEmbed of a type. */
export function oembedLinkOf({ elements }: ReadPage, type: string): string | undefined {
  return elements.find(({ name, attributes }) => name === 'link' && attributes['type'] === type)?.attributes['href'];
}

function elementsIn(node: DefaultTreeAdapterMap['parentNode']): ReadElement[] {
  return node.childNodes.flatMap((child) => {
    if (!('tagName' in child)) return [];
    const text = child.childNodes.map((inner) => ('value' in inner ? inner.value : '')).join('');
    const attributes = Object.fromEntries(child.attrs.map(({ name, value }) => [name, value]));
    return [{ name: child.tagName, attributes, text }, ...elementsIn(child)];
  });
}
