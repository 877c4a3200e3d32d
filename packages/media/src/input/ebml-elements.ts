/** An element of EBML (RFC 8794 section 6), with offsets into the bytes that it was read from. */
export interface EbmlElement {
  readonly id: number;
  readonly content: number;
  /** The end of the content; Infinity if the length is unknown. */
  readonly end: number;
}

/** The longest header of an element: an id of 4 bytes, and a length of 8. */
export const maxElementHeaderBytes = 12;

/** The element at an offset; undefined if there is none, or `bytes` end within its header. */
export function parseElement(bytes: Buffer, at: number): EbmlElement | undefined {
  const idLength = lengthOfNumber(bytes[at]);
  const sizeLength = lengthOfNumber(bytes[at + idLength]);
  const content = at + idLength + sizeLength;
  if (idLength > 4 || sizeLength > 8 || content > bytes.length) return undefined;
  const id = bytes.readUIntBE(at, idLength);
  // The leading bits of a number's first byte encode its length.
  const sizeBytes = bytes.subarray(at + idLength, content);
  const size = sizeBytes.reduce((sum, byte, n) => sum * 256 + (n === 0 ? byte & (0xff >> sizeLength) : byte), 0);
  const isUnknown = size >= 2 ** (7 * sizeLength) - 1;
  return { id, content, end: isUnknown ? Number.POSITIVE_INFINITY : content + size };
}

/** Readers ignore further elements of one level: a hostile file has millions. */
export const maxElements = 4096;

/** The elements within another at a path of ids, with offsets into `bytes`, among the first 4096 of each level. */
export function* elementsAt(
  bytes: Buffer,
  within: Pick<EbmlElement, 'content' | 'end'>,
  ...[id, ...deeper]: number[]
): Generator<EbmlElement> {
  for (let at = within.content, n = 0; at < within.end && n < maxElements; n += 1) {
    const element = parseElement(bytes, at);
    if (!element || element.end > within.end) return;
    if (element.id === id) yield* deeper.length > 0 ? elementsAt(bytes, element, ...deeper) : [element];
    at = element.end;
  }
}

function lengthOfNumber(first = 0): number {
  return Math.clz32(first) - 24 + 1;
}

const headerId = 0x1a45dfa3;
const docTypeId = 0x4282;

/** The DocType in an EBML header (RFC 8794 section 11.2.8): `webm` or `matroska` for videos. */
export function readDocType(head: Buffer): string | undefined {
  const header = parseElement(head, 0);
  if (header?.id !== headerId) return undefined;
  const [docType] = elementsAt(head, header, docTypeId);
  return docType && head.toString('latin1', docType.content, docType.end).replace(/\0+$/, '');
}
