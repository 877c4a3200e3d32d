import { exifOrientation, oriented } from './orientation.ts';
import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

const exifFlag = 0x08;
const mostChunks = 64;
const mostExif = 64 * 1024;

/**
 * The canvas of a WebP (RFC 9649 section 2), orientation applied. A file that is shorter than it says was cut off.
 */
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
  const hasExif = (header.readUInt8(20) & exifFlag) !== 0;
  return hasExif ? oriented(canvas, await orientationChunk(reader)) : canvas;
}

// EXIF stands behind the pixels; an animation with more frames than we care to step over is taken to stand upright.
async function orientationChunk(reader: SourceReader): Promise<number | undefined> {
  for (let n = 0, at = 12; n < mostChunks; n++) {
    const chunk = await reader.at(at, 8);
    if (chunk.length < 8) return undefined;
    const length = chunk.readUInt32LE(4);
    if (chunk.toString('latin1', 0, 4) === 'EXIF')
      return exifOrientation(await reader.at(at + 8, Math.min(length, mostExif)));
    at += 8 + length + (length % 2);
  }
  return undefined;
}
