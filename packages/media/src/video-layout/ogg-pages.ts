import type { SourceReader } from '../input/source-reader.ts';

/** A page of an Ogg: from where to where, and whether a packet ends in it that is no header. */
export interface OggPage {
  readonly offset: number;
  readonly end: number;
  readonly endsData: boolean;
}

const headerBytes = 27;
const mostSegments = 255;
// Where no packet ends, and where those do that come before the first moment.
const [nowhere, atBeginning] = [-1n, 0n];

/** The pages of an Ogg (RFC 3533 section 6), one after another, up to where none begins. */
export async function* oggPages(reader: SourceReader): AsyncGenerator<OggPage> {
  let offset = 0;
  while (offset < reader.size) {
    const page = await reader.at(offset, headerBytes + mostSegments);
    if (page.length < headerBytes || page.toString('latin1', 0, 4) !== 'OggS') return;
    const granule = page.readBigInt64LE(6);
    const segments = page.subarray(headerBytes, headerBytes + page.readUInt8(26));
    const end = offset + headerBytes + segments.reduce((sum, length) => sum + length, segments.length);
    yield { offset, end, endsData: granule !== nowhere && granule !== atBeginning };
    offset = end;
  }
}
