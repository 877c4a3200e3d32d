import { u32 } from '../samples/sample-iso.ts';

/** An EBML element: id in hexadecimal, length of eight bytes, content. */
export function ebml(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([longElement(id, body.length), body]);
}

/** The header of an element that claims to contain `bytes`. */
export function longElement(id: string, bytes: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(bytes) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), length]);
}

/** Attachments with one file of `bytes`. */
export function attachment(bytes: number, ...before: readonly Buffer[]): Buffer {
  const facts = [
    ebml('466e', Buffer.from('a.ttf')),
    ebml('4660', Buffer.from('font/ttf')),
    ebml('46ae', Buffer.from([1])),
  ];
  return ebml('1941a469', ...before, ebml('61a7', ...facts, ebml('465c', Buffer.alloc(bytes, 'font'))));
}

/** Nested attachments, the innermost of 2 MiB. */
export function nestedAttachments(depth: number): Buffer {
  let inner = attachment(2 ** 21);
  for (let n = 0; n < depth; n++) inner = attachment(1, inner);
  return inner;
}

export function docType(name: string): Buffer {
  return ebml('1a45dfa3', ebml('4282', Buffer.from(name)));
}

export function matroska(name: string, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([docType(name), ebml('18538067', ...content)]);
}

export function tracks(count: number, width: number, height: number): Buffer {
  const track = (n: number) =>
    ebml(
      'ae',
      ebml('d7', u32(n + 1)),
      ebml('73c5', u32(n + 1)),
      ebml('83', Buffer.from([1])),
      ebml('86', Buffer.from('V_VP8')),
      ebml('e0', ebml('b0', u32(width)), ebml('ba', u32(height))),
    );
  return ebml('1654ae6b', ...Array.from({ length: count }, (_, n) => track(n)));
}

export function nestedTags(depth: number): Buffer {
  let inner: Buffer = ebml('67c8', ebml('45a3', Buffer.from('x')));
  for (let n = 0; n < depth; n++) inner = ebml('67c8', ebml('45a3', Buffer.from('x')), inner);
  return inner;
}
