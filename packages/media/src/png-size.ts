import { crc32 } from 'node:zlib';
import { exifOrientation, oriented } from './orientation.ts';
import { readPhotoHeader } from './read-photo-header.ts';
import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

const tailBytes = 64 * 1024;
// The letters of a chunk's type may turn up among pixels; its checksum will not.
const mostCandidates = 8;

/** A PNG's canvas, EXIF orientation applied. EXIF (PNG third edition, section 11.3.4.7) may follow the pixels. */
export async function pngSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await readPhotoHeader(reader);
  if (typeof header === 'string') return header;
  return oriented(header, header.orientation ?? (await orientationBehindPixels(reader)));
}

/** The EXIF orientation that stands behind a PNG's pixels, where whoever decodes them does not look. */
export async function orientationBehindPixels(reader: SourceReader): Promise<number | undefined> {
  const tail = await reader.tail(tailBytes);
  let at = tail.lastIndexOf('eXIf');
  for (let n = 0; n < mostCandidates && at >= 4; n++) {
    const exif = chunkData(tail, at);
    if (exif) return exifOrientation(exif);
    at = tail.lastIndexOf('eXIf', at - 1);
  }
  return undefined;
}

// A chunk: the length of its data, its type (here at `at`), its data, the checksum of the latter two.
function chunkData(bytes: Buffer, at: number): Buffer | undefined {
  const end = at + 4 + bytes.readUInt32BE(at - 4);
  if (end + 4 > bytes.length || bytes.readUInt32BE(end) !== crc32(bytes.subarray(at, end))) return undefined;
  return bytes.subarray(at + 4, end);
}
