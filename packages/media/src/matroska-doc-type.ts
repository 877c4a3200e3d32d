const ebmlHeader = 0x1a45dfa3;
const docType = 0x4282;

/**
 * The DocType in an EBML header (RFC 8794 section 11.2.8), `webm` or `matroska` for films; undefined where there is
 * none.
 */
export function matroskaDocType(head: Buffer): string | undefined {
  const header = element(head, 0);
  if (header?.id !== ebmlHeader) return undefined;
  for (let at = header.start; at < header.end; ) {
    const child = element(head, at);
    if (!child) return undefined;
    if (child.id === docType) return head.toString('latin1', child.start, child.end).replace(/\0+$/, '');
    at = child.end;
  }
  return undefined;
}

function element(head: Buffer, at: number): { id: number; start: number; end: number } | undefined {
  const idLength = lengthOfNumber(head[at]);
  const sizeLength = lengthOfNumber(head[at + idLength]);
  const start = at + idLength + sizeLength;
  if (idLength > 4 || sizeLength > 8 || start > head.length) return undefined;
  const id = head.readUIntBE(at, idLength);
  // A number's first byte begins with as many bits as it has bytes; eight bytes hold sizes that no header has.
  const sizeBytes = head.subarray(at + idLength, start);
  const size = sizeBytes.reduce((sum, byte, n) => sum * 256 + (n === 0 ? byte & (0xff >> sizeLength) : byte), 0);
  return { id, start, end: start + size };
}

function lengthOfNumber(first = 0): number {
  return Math.clz32(first) - 24 + 1;
}
