import type { SourceReader } from '../input/source-reader.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';

// Header sizes of OS/2 version 1, and of version 2 if shortened; all others begin alike.
const os2 = { v1: 12, shortV2: 16 };
const uncompressed = 0;
// Printers read these compressions, a JPEG or PNG inside. No viewer shows them.
const printerCompressions = [4, 5];
const alphaBitFields = 6;
// Headers of this size or more have a mask of alpha (BITMAPV3INFOHEADER).
const withAlphaMask = 56;
// Windows CE has bitmaps of two bits per pixel, which hardly any program supports.
const windowsCeDepth = 2;

/** Width and height in a BMP's second header. With a negative height, rows start at the top. */
export async function bmpSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await reader.at(0, 34);
  const kind = header.readUInt32LE(14);
  if (kind === os2.v1) {
    const size = { width: header.readUInt16LE(18), height: header.readUInt16LE(20) };
    return isComplete(reader, size, header.readUInt16LE(24), header) ? size : 'broken';
  }
  if (header.length < 34) return 'broken';
  if (header.readUInt16LE(28) === windowsCeDepth) return 'codec';
  const size = { width: header.readInt32LE(18), height: Math.abs(header.readInt32LE(22)) };
  const compression = kind === os2.shortV2 ? uncompressed : header.readUInt32LE(30);
  if (printerCompressions.includes(compression)) return 'codec';
  if (await hasAlphaOf16Bits(reader, kind, header)) return 'codec';
  return compression !== uncompressed || isComplete(reader, size, header.readUInt16LE(28), header) ? size : 'broken';
}

// ffmpeg ignores it, so the colours of what a person erased would show. The mask of alpha is the fourth, behind 40 bytes of header.
async function hasAlphaOf16Bits(reader: SourceReader, kind: number, header: Buffer): Promise<boolean> {
  const hasMask = kind >= withAlphaMask || header.readUInt32LE(30) === alphaBitFields;
  if (header.readUInt16LE(28) !== 16 || !hasMask) return false;
  const mask = await reader.at(14 + 40 + 12, 4);
  return mask.length === 4 && mask.readUInt32LE(0) !== 0;
}

// Rows are padded to four bytes each, but some programs do not pad the last.
function isComplete(reader: SourceReader, { width, height }: Size, bitsPerPixel: number, header: Buffer): boolean {
  const pixelBytes = Math.ceil((width * bitsPerPixel) / 8);
  const rowBytes = Math.ceil(pixelBytes / 4) * 4;
  return header.readUInt32LE(10) + rowBytes * (height - 1) + pixelBytes <= reader.size;
}
