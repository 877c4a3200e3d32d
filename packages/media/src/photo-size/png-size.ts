import { crc32 } from 'node:zlib';
import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, parseExifOrientation } from '../input/tiff-directory.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';

const magicBytes = 8;
const headerBytes = 13;
// Bits per sample, by colour type (section 11.2.1).
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const maxChunkBytes = 2 ** 31 - 1;
const maxChunks = 10_000;
// A read has 64 KiB. So many reads have 8 MiB, as for a JPEG's header.
const maxReads = 128;
const maxExifBytes = 64 * 1024;
const tailBytes = 64 * 1024;
// A chunk's type may occur among pixels, but not with a valid checksum.
const maxCandidates = 8;

/** A PNG's canvas, EXIF orientation applied. Skips texts and profiles before the pixels. */
export async function pngSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const canvas = await readCanvas(reader);
  return typeof canvas === 'string' ? canvas : orientSize(canvas, canvas.orientation);
}

/** The EXIF orientation of a PNG. EXIF (PNG third edition, section 11.3.4.7) may follow the pixels. */
export async function pngOrientation(reader: SourceReader): Promise<number | undefined> {
  const canvas = await readCanvas(reader);
  return typeof canvas === 'string' ? undefined : canvas.orientation;
}

type Canvas = Size & { readonly orientation: number | undefined };

// PNG third edition, section 5.3: a chunk is the length of its data, its type, its data, and a checksum.
async function readCanvas(reader: SourceReader): Promise<Canvas | UnsupportedReason> {
  const first = await reader.at(magicBytes, 8 + headerBytes);
  if (first.length < 8 + headerBytes || first.readUInt32BE(0) !== headerBytes || chunkType(first) !== 'IHDR') {
    return 'broken';
  }
  if (!depths[first.readUInt8(17)]?.includes(first.readUInt8(16))) return 'broken';
  const size = { width: first.readUInt32BE(8), height: first.readUInt32BE(12) };
  let orientation: number | undefined;
  for (let n = 0, at = magicBytes + 12 + headerBytes; n < maxChunks && reader.reads < maxReads; n++) {
    const chunk = await reader.at(at, 8);
    const type = chunkType(chunk);
    if (type === 'IDAT') {
      if (chunk.readUInt32BE(0) > maxChunkBytes) return 'broken';
      return { ...size, orientation: orientation ?? (await orientationAfterPixels(reader)) };
    }
    if (!/^(?!IEND)[A-Za-z]{4}$/.test(type)) return 'broken';
    const length = chunk.readUInt32BE(0);
    if (type === 'eXIf')
      orientation ??= await parseExifOrientation(await reader.at(at + 8, Math.min(length, maxExifBytes)));
    at += 12 + length;
  }
  return 'too_costly';
}

function chunkType(chunk: Buffer): string {
  return chunk.toString('latin1', 4, 8);
}

async function orientationAfterPixels(reader: SourceReader): Promise<number | undefined> {
  const tail = await reader.at(Math.max(0, reader.size - tailBytes), tailBytes);
  let at = tail.lastIndexOf('eXIf');
  for (let n = 0; n < maxCandidates && at >= 4; n++) {
    const exif = chunkData(tail, at);
    if (exif) return parseExifOrientation(exif);
    at = tail.lastIndexOf('eXIf', at - 1);
  }
  return undefined;
}

function chunkData(bytes: Buffer, typeAt: number): Buffer | undefined {
  const end = typeAt + 4 + bytes.readUInt32BE(typeAt - 4);
  if (end + 4 > bytes.length || bytes.readUInt32BE(end) !== crc32(bytes.subarray(typeAt, end))) return undefined;
  return bytes.subarray(typeAt + 4, end);
}
