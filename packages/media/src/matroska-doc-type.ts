import { elementAt } from './input/ebml-elements.ts';

const ebmlHeader = 0x1a45dfa3;
const docType = 0x4282;

/**
 * The DocType in an EBML header (RFC 8794 section 11.2.8), `webm` or `matroska` for videos; undefined where there is
 * none.
 */
export function matroskaDocType(head: Buffer): string | undefined {
  const header = elementAt(head, 0);
  if (header?.id !== ebmlHeader) return undefined;
  for (let at = header.content; at < header.end; ) {
    const child = elementAt(head, at);
    if (!child) return undefined;
    if (child.id === docType) return head.toString('latin1', child.content, child.end).replace(/\0+$/, '');
    at = child.end;
  }
  return undefined;
}
