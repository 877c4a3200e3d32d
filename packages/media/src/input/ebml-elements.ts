/** An element of EBML (RFC 8794 section 6), with offsets into the bytes that it was read from. */
export interface EbmlElement {
  readonly id: number;
  readonly content: number;
  /** Infinite where it does not say how long it is. */
  readonly end: number;
}

/** The most that stands before an element's content: an id of 4 bytes, a length of 8. */
export const longestElementHeader = 12;

/** The element that begins at `at`; undefined where none does, or where `bytes` end within its header. */
export function elementAt(bytes: Buffer, at: number): EbmlElement | undefined {
  const idLength = lengthOfNumber(bytes[at]);
  const sizeLength = lengthOfNumber(bytes[at + idLength]);
  const content = at + idLength + sizeLength;
  if (idLength > 4 || sizeLength > 8 || content > bytes.length) return undefined;
  const id = bytes.readUIntBE(at, idLength);
  // A number's first byte begins with as many bits as it has bytes.
  const sizeBytes = bytes.subarray(at + idLength, content);
  const size = sizeBytes.reduce((sum, byte, n) => sum * 256 + (n === 0 ? byte & (0xff >> sizeLength) : byte), 0);
  const isUnknown = size >= 2 ** (7 * sizeLength) - 1;
  return { id, content, end: isUnknown ? Number.POSITIVE_INFINITY : content + size };
}

function lengthOfNumber(first = 0): number {
  return Math.clz32(first) - 24 + 1;
}
