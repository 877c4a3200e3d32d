import type { Size } from '../size.ts';

const [short, long, bytes] = [3, 4, 7];
const entryBytes = 12;

/**
 * Creates an uncompressed TIFF of 8-bit RGBA and a view of its pixels, for a decoder to fill. It passes raw pixels to sharp
 * together with their colour profile.
 */
export function createRgbaTiff({ width, height }: Size, profile?: Buffer): { tiff: Buffer; pixels: Uint8ClampedArray } {
  const icc = profile ?? Buffer.alloc(0);
  const count = icc.length > 0 ? 11 : 10;
  const bitsAt = 8 + 2 + count * entryBytes + 4;
  const iccAt = bitsAt + 8;
  const pixelsAt = iccAt + icc.length + (icc.length % 2);
  const length = width * height * 4;
  const entries = [
    [256, long, 1, width],
    [257, long, 1, height],
    [258, short, 4, bitsAt],
    [259, short, 1, 1],
    [262, short, 1, 2],
    [273, long, 1, pixelsAt],
    [277, short, 1, 4],
    [278, long, 1, height],
    [279, long, 1, length],
    [338, short, 1, 2],
    ...(icc.length > 0 ? [[34675, bytes, icc.length, iccAt]] : []),
  ] as const;
  const tiff = Buffer.alloc(pixelsAt + length);
  tiff.write('II*\0\x08\0\0\0', 'latin1');
  tiff.writeUInt16LE(count, 8);
  entries.forEach(([tag = 0, type = 0, values = 0, value = 0], n) => {
    const at = 10 + n * entryBytes;
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(type, at + 2);
    tiff.writeUInt32LE(values, at + 4);
    tiff.writeUInt32LE(value, at + 8);
  });
  for (let channel = 0; channel < 4; channel += 1) tiff.writeUInt16LE(8, bitsAt + channel * 2);
  icc.copy(tiff, iccAt);
  return { tiff, pixels: new Uint8ClampedArray(tiff.buffer, tiff.byteOffset + pixelsAt, length) };
}
