import { crc32 } from 'node:zlib';
import type { SourceReader } from '../input/source-reader.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { exifOrientation, oriented } from './orientation.ts';

const magicBytes = 8;
const headerBytes = 13;
// Bits a sample, by the type of colours (section 11.2.1).
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const longestChunk = 2 ** 31 - 1;
const mostChunks = 10_000;
// Of 64 KiB each: as much as is read of a JPEG's header.
const mostReads = 128;
const mostExif = 64 * 1024;
const tailBytes = 64 * 1024;
// The letters of a chunk's type may turn up among pixels; its checksum will not.
const mostCandidates = 8;

/** A PNG's canvas, EXIF orientation applied. Texts and profiles before the pixels are stepped over, not unpacked. */
export async function pngSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await headerOf(reader);
  if (typeof header === 'string') return header;
  return oriented(header, header.orientation ?? (await orientationBehindPixels(reader)));
}

/** The EXIF orientation of a PNG. EXIF (PNG third edition, section 11.3.4.7) may follow the pixels. */
export async function pngOrientation(reader: SourceReader): Promise<number | undefined> {
  const header = await headerOf(reader);
  if (typeof header === 'string') return undefined;
  return header.orientation ?? (await orientationBehindPixels(reader));
}

interface PngHeader extends Size {
  /** What EXIF before the pixels says. */
  readonly orientation: number | undefined;
}

// PNG third edition, section 5.3: a chunk is the length of its data, its type, its data, and a checksum.
async function headerOf(reader: SourceReader): Promise<PngHeader | UnsupportedReason> {
  const first = await reader.at(magicBytes, 8 + headerBytes);
  if (first.length < 8 + headerBytes || first.readUInt32BE(0) !== headerBytes || typeIn(first) !== 'IHDR') {
    return 'broken';
  }
  if (!depths[first.readUInt8(17)]?.includes(first.readUInt8(16))) return 'broken';
  const size = { width: first.readUInt32BE(8), height: first.readUInt32BE(12) };
  let orientation: number | undefined;
  for (let n = 0, at = magicBytes + 12 + headerBytes; n < mostChunks && reader.reads < mostReads; n++) {
    const chunk = await reader.at(at, 8);
    const type = typeIn(chunk);
    if (type === 'IDAT') return chunk.readUInt32BE(0) > longestChunk ? 'broken' : { ...size, orientation };
    if (!/^[A-Za-z]{4}$/.test(type) || type === 'IEND') return 'broken';
    const length = chunk.readUInt32BE(0);
    if (type === 'eXIf') orientation ??= await exifOrientation(await reader.at(at + 8, Math.min(length, mostExif)));
    at += 12 + length;
  }
  return 'too_costly';
}

function typeIn(chunk: Buffer): string {
  return chunk.toString('latin1', 4, 8);
}

async function orientationBehindPixels(reader: SourceReader): Promise<number | undefined> {
  const tail = await reader.tail(tailBytes);
  let at = tail.lastIndexOf('eXIf');
  for (let n = 0; n < mostCandidates && at >= 4; n++) {
    const exif = chunkData(tail, at);
    if (exif) return exifOrientation(exif);
    at = tail.lastIndexOf('eXIf', at - 1);
  }
  return undefined;
}

function chunkData(bytes: Buffer, typeAt: number): Buffer | undefined {
  const end = typeAt + 4 + bytes.readUInt32BE(typeAt - 4);
  if (end + 4 > bytes.length || bytes.readUInt32BE(end) !== crc32(bytes.subarray(typeAt, end))) return undefined;
  return bytes.subarray(typeAt + 4, end);
}
