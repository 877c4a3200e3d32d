import type { Size } from '../size.ts';

const short = 3;
const long = 4;
const bytes = 7;
const entryBytes = 12;
const rgb = 2;
const associatedAlpha = 1;
const unassociatedAlpha = 2;

export interface RawPixels extends Size {
  /** The number of channels: RGB without or with alpha. */
  readonly channels: 3 | 4;
  readonly bits: 8 | 16;
  /** An ICC profile. */
  readonly profile?: Buffer | undefined;
  /** Whether colours are multiplied by alpha. */
  readonly isPremultiplied?: boolean;
  /** The orientation as in EXIF; upright unless given. */
  readonly orientation?: number | undefined;
}

/**
 * Creates an uncompressed TIFF and a view of its pixels, to be filled (16 bits: little-endian). It passes raw pixels to sharp
 * together with what sharp accepts for no raw pixels: a colour profile, premultiplied alpha and an orientation.
 */
export function createRawTiff(raw: RawPixels): { readonly tiff: Buffer; readonly pixels: Buffer } {
  const { width, height, channels, bits, isPremultiplied = false, orientation = 1, profile = Buffer.alloc(0) } = raw;
  const length = (width * height * channels * bits) / 8;
  const places = { bits: 0, profile: 0, pixels: 0 };
  const entries = () => [
    [256, long, 1, width],
    [257, long, 1, height],
    [258, short, channels, places.bits],
    [259, short, 1, 1],
    [262, short, 1, rgb],
    [273, long, 1, places.pixels],
    [274, short, 1, orientation],
    [277, short, 1, channels],
    [278, long, 1, height],
    [279, long, 1, length],
    ...(channels === 4 ? [[338, short, 1, isPremultiplied ? associatedAlpha : unassociatedAlpha]] : []),
    ...(profile.length > 0 ? [[34675, bytes, profile.length, places.profile]] : []),
  ];
  const count = entries().length;
  places.bits = 8 + 2 + count * entryBytes + 4;
  places.profile = places.bits + 8;
  places.pixels = places.profile + profile.length + (profile.length % 2);
  const tiff = Buffer.alloc(places.pixels + length);
  tiff.write('II*\0\x08\0\0\0', 'latin1');
  tiff.writeUInt16LE(count, 8);
  entries().forEach(([tag = 0, type = 0, values = 0, value = 0], n) => {
    const at = 10 + n * entryBytes;
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(type, at + 2);
    tiff.writeUInt32LE(values, at + 4);
    tiff.writeUInt32LE(value, at + 8);
  });
  for (let channel = 0; channel < 4; channel += 1) tiff.writeUInt16LE(bits, places.bits + channel * 2);
  profile.copy(tiff, places.profile);
  return { tiff, pixels: tiff.subarray(places.pixels) };
}
