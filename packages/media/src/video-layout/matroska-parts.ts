import { type EbmlElement, elementAt, longestElementHeader } from '../input/ebml-elements.ts';
import type { SourceReader } from '../input/source-reader.ts';

// RFC 9559 section 5.1.
const segment = 0x18538067;
const cluster = 0x1f43b675;
const needed = new Set([0x1549a966, 0x1654ae6b]);

/** A part of a Matroska video, as it stands in front of the pictures: from where to where, and what it is for a look. */
export interface MatroskaPart {
  readonly kind: 'pictures' | 'needed' | 'needless';
  readonly offset: number;
  readonly end: number;
}

const smallBytes = 64 * 1024;

/**
 * The outermost parts of a Matroska video's segment, one after another up to the first pictures, at most `limit`. What
 * is long and not needed (fonts, covers, tags, an index) is `needless`. It ends early where what is read is no element,
 * or is one without a length or with one that goes beyond the media.
 */
export async function* matroskaParts(reader: SourceReader, limit: number): AsyncGenerator<MatroskaPart> {
  const header = await elementOf(reader, 0);
  const body = header && (await elementOf(reader, header.end));
  if (body?.id !== segment) return;
  let offset = body.content;
  for (let n = 0; n < limit && offset < reader.size; n++) {
    const element = await elementOf(reader, offset);
    if (!element) return;
    const { id, end } = element;
    if (id === cluster) return yield { kind: 'pictures', offset, end };
    if (end > reader.size) return;
    yield { kind: needed.has(id) || end - offset <= smallBytes ? 'needed' : 'needless', offset, end };
    offset = end;
  }
}

async function elementOf(reader: SourceReader, offset: number): Promise<EbmlElement | undefined> {
  const element = elementAt(await reader.at(offset, longestElementHeader), 0);
  return element && { id: element.id, content: offset + element.content, end: offset + element.end };
}

/** What a reader passes over (RFC 8794 section 11.3.2): the header of an element of `length` bytes in all, at least 9. */
export function voidHeader(length: number): Buffer {
  const header = Buffer.alloc(9);
  header.writeBigUInt64BE((1n << 56n) | BigInt(length - header.length), 1);
  header[0] = 0xec;
  return header;
}
