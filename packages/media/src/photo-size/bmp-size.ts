import type { SourceReader } from '../input/source-reader.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';

// OS/2's headers of version 1, and of version 2 where it is cut short; all others begin alike.
const os2 = { oldest: 12, short: 16 };
const plain = 0;
// A JPEG or PNG inside, for printers: no program shows them.
const forPrinters = [4, 5];
// Bits a pixel of which hardly a program knows.
const ofWindowsCe = 2;

/** Width and height in a bitmap's second header. A height below zero only says that the rows begin at the top. */
export async function bmpSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await reader.at(0, 34);
  const kind = header.readUInt32LE(14);
  if (kind === os2.oldest) {
    const size = { width: header.readUInt16LE(18), height: header.readUInt16LE(20) };
    return complete(reader, size, header.readUInt16LE(24), header) ? size : 'broken';
  }
  if (header.length < 34) return 'broken';
  if (header.readUInt16LE(28) === ofWindowsCe) return 'codec';
  const size = { width: header.readInt32LE(18), height: Math.abs(header.readInt32LE(22)) };
  const coding = kind === os2.short ? plain : header.readUInt32LE(30);
  if (forPrinters.includes(coding)) return 'codec';
  return coding !== plain || complete(reader, size, header.readUInt16LE(28), header) ? size : 'broken';
}

// Rows are filled up to four bytes each, but some programs leave that out of the last.
function complete(reader: SourceReader, { width, height }: Size, bitsPerPixel: number, header: Buffer): boolean {
  const pixelBytes = Math.ceil((width * bitsPerPixel) / 8);
  const rowBytes = Math.ceil(pixelBytes / 4) * 4;
  return header.readUInt32LE(10) + rowBytes * (height - 1) + pixelBytes <= reader.size;
}
