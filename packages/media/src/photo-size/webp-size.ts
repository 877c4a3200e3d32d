import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, parseExifOrientation } from '../input/tiff-directory.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';

const animationFlag = 0x02;
const exifFlag = 0x08;
const maxChunks = 16;
const maxPictureChunks = 64;
const frameHeaderBytes = 16;
const maxExifBytes = 64 * 1024;
const tailBytes = 64 * 1024;

/** The canvas of a WebP (RFC 9649 section 2), orientation applied. `broken` if the file is shorter than declared. */
export async function webpSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await reader.at(0, 30);
  if (header.length < 25 || header.readUInt32LE(4) + 8 > reader.size) return 'broken';
  switch (header.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return header.length < 30
        ? 'broken'
        : { width: header.readUInt16LE(26) & 0x3fff, height: header.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = header.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return header.length < 30 ? 'broken' : extendedSize(reader, header);
    default:
      return 'broken';
  }
}

async function extendedSize(reader: SourceReader, header: Buffer): Promise<Size> {
  const canvas = { width: header.readUIntLE(24, 3) + 1, height: header.readUIntLE(27, 3) + 1 };
  const flags = header.readUInt8(20);
  if ((flags & exifFlag) === 0) return canvas;
  const isAnimation = (flags & animationFlag) !== 0;
  const exif = isAnimation ? await exifAtEnd(reader, header.readUInt32LE(4) + 8) : await exifAfterPixels(reader);
  return exif ? orientSize(canvas, await parseExifOrientation(exif)) : canvas;
}

async function exifAfterPixels(reader: SourceReader): Promise<Buffer | undefined> {
  for await (const { type, at, length } of chunks(reader, maxChunks)) {
    if (type === 'EXIF') return reader.at(at, Math.min(length, maxExifBytes));
  }
  return undefined;
}

/** Whether the first picture of a WebP is losslessly coded. */
export async function isLosslessWebp(reader: SourceReader): Promise<boolean> {
  for await (const { type } of chunks(reader, maxPictureChunks)) {
    if (type === 'VP8 ' || type === 'VP8L') return type === 'VP8L';
  }
  return false;
}

// The chunks of a frame, after its position and duration, count as chunks of the file.
async function* chunks(reader: SourceReader, limit: number) {
  for (let n = 0, start = 12; n < limit; n++) {
    const header = await reader.at(start, 8);
    if (header.length < 8) return;
    const type = header.toString('latin1', 0, 4);
    yield { type, at: start + 8, length: header.readUInt32LE(4) };
    start += type === 'ANMF' ? 8 + frameHeaderBytes : chunkBytes(header, 0);
  }
}

// An animation has too many frames to step over, so this looks in the last bytes for a chunk that leads to the end.
async function exifAtEnd(reader: SourceReader, end: number): Promise<Buffer | undefined> {
  const tail = await reader.at(Math.max(0, end - tailBytes), Math.min(end, tailBytes));
  let at = tail.lastIndexOf('EXIF');
  for (let n = 0; n < maxChunks && at > 0; n++) {
    if (leadsToEnd(tail, at)) return tail.subarray(at + 8, at + 8 + tail.readUInt32LE(at + 4));
    at = tail.lastIndexOf('EXIF', at - 1);
  }
  return undefined;
}

function leadsToEnd(bytes: Buffer, start: number): boolean {
  let at = start;
  for (let n = 0; n < maxChunks && at + 8 <= bytes.length; n++) at += chunkBytes(bytes, at);
  return at === bytes.length;
}

// A type, the length of the data, and the data, padded to an even length.
function chunkBytes(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at + 4);
  return 8 + length + (length % 2);
}
