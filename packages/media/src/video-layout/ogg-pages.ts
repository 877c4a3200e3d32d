import type { SourceReader } from '../input/source-reader.ts';

const headerBytes = 27;
const maxSegments = 255;
// These values say that no packet ends in the page, or that headers do.
const noGranule = -1n;
const headerGranule = 0n;

/** The pages of an Ogg (RFC 3533 section 6), up to the first invalid one. `endsData`: a packet that is no header ends in it. */
export async function* oggPages(reader: SourceReader) {
  let offset = 0;
  while (offset < reader.size) {
    const page = await reader.at(offset, headerBytes + maxSegments);
    if (page.length < headerBytes || page.toString('latin1', 0, 4) !== 'OggS') return;
    const granule = page.readBigInt64LE(6);
    const segments = page.subarray(headerBytes, headerBytes + page.readUInt8(26));
    const end = offset + headerBytes + segments.reduce((sum, length) => sum + length, segments.length);
    yield { offset, end, endsData: granule !== noGranule && granule !== headerGranule };
    offset = end;
  }
}
