import { crc32, deflateSync } from 'node:zlib';
import type { ColourCodes } from '../colour-codes.ts';
import { type Colours, coloursOfCodes, createProfile, sRgbPrimaries } from './colour-profile.ts';

const magicBytes = 8;
const headerEnd = magicBytes + 25;

// Chunks that define the pixels' coding. Of the chunks for colours, only a profile may be left.
const neededTypes = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'sBIT']);

interface Stated {
  /** The colours, if they are known from elsewhere. */
  readonly codes?: ColourCodes | undefined;
  /** The orientation in EXIF anywhere in the file. */
  readonly orientation?: number | undefined;
}

interface Chunk {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly data: Buffer;
}

/**
 * Leaves, in place, only the chunks of a PNG that its pixels need: decoders unpack every text, and a kilobyte of it may become a
 * megabyte. Keeps a truncated chunk. libvips ignores colours that a PNG states in numbers, so a profile replaces them. It ignores EXIF after
 * the pixels, so the orientation precedes them.
 */
export function keepPixelChunks(png: Buffer, { codes, orientation = 1 }: Stated): Buffer {
  const ofColours = chunksBeforePixels(png);
  const colours = codes ? coloursOfCodes(codes) : readColours(ofColours);
  const isGrey = ((png[headerEnd - 8] ?? 0) & 2) === 0;
  const profile = colours && createProfile(colours, isGrey ? 'grey' : 'rgb');
  const keptProfile = colours ? undefined : ofColours.get('iCCP')?.start;
  let to = magicBytes;
  for (const { type, start, end } of chunksOf(png)) {
    if (!neededTypes.has(type) && start !== keptProfile) continue;
    if (to < start) png.copyWithin(to, start, end);
    to += end - start;
  }
  const pixels = png.subarray(0, to);
  const added = [
    ...(profile ? [chunk('iCCP', Buffer.from('p\0\0', 'latin1'), deflateSync(profile))] : []),
    ...(orientation === 1 ? [] : [chunk('eXIf', exifOf(orientation))]),
  ];
  return added.length === 0
    ? pixels
    : Buffer.concat([pixels.subarray(0, headerEnd), ...added, pixels.subarray(headerEnd)]);
}

// The first chunk of each type counts.
function chunksBeforePixels(png: Buffer): ReadonlyMap<string, Chunk> {
  const chunks = new Map<string, Chunk>();
  for (const chunk of chunksOf(png)) {
    if (chunk.type === 'IDAT') break;
    if (!chunks.has(chunk.type)) chunks.set(chunk.type, chunk);
  }
  return chunks;
}

function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let start = magicBytes, end: number; start + 12 <= png.length; start = end) {
    end = Math.min(start + 12 + png.readUInt32BE(start), png.length);
    yield { type: png.toString('latin1', start + 4, start + 8), start, end, data: png.subarray(start + 8, end - 4) };
  }
}

// PNG third edition, section 13.13: the first of cICP, iCCP, sRGB, and gAMA with cHRM counts. Undefined if that is iCCP.
function readColours(chunks: ReadonlyMap<string, Chunk>): Colours | undefined {
  const [codes, gamma, chromaticities] = ['cICP', 'gAMA', 'cHRM'].map((type) => chunks.get(type)?.data);
  // The matrix must be 0.
  if (codes && codes.length >= 4 && codes[2] === 0)
    return coloursOfCodes({ primaries: codes.readUInt8(0), transfer: codes.readUInt8(1) });
  if (chunks.has('iCCP')) return undefined;
  const isSRgb = chunks.has('sRGB');
  const curve = isSRgb ? 'sRGB' : readCurve(gamma);
  return { primaries: isSRgb ? sRgbPrimaries : readPrimaries(chromaticities), curve };
}

// The gamma of sRGB: 100,000 times the exponent of encoding (section 11.3.2.5).
const sRgbGamma = 45_455;

function readCurve(gamma: Buffer | undefined): Colours['curve'] {
  const value = gamma && gamma.length >= 4 ? gamma.readUInt32BE(0) : 0;
  const isUsable = value >= 10_000 && value <= 1_000_000 && Math.abs(value - sRgbGamma) > 50;
  return isUsable ? { gamma: 100_000 / value } : 'sRGB';
}

// Programs round these numbers in their own ways.
const sRgbChromaticities = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000];
const maxRounding = 50;

function readPrimaries(chromaticities: Buffer | undefined): Colours['primaries'] {
  if (!chromaticities || chromaticities.length < 32) return sRgbPrimaries;
  const values = sRgbChromaticities.map((_, n) => chromaticities.readUInt32BE(n * 4));
  const isSRgb = values.every((value, n) => Math.abs(value - (sRgbChromaticities[n] ?? 0)) <= maxRounding);
  const [white, red, green, blue] = [0, 2, 4, 6].map(
    (n) => [(values[n] ?? 0) / 100_000, (values[n + 1] ?? 0) / 100_000] as const,
  );
  return isSRgb || !white || !red || !green || !blue ? sRgbPrimaries : { white, red, green, blue };
}

// A TIFF with a directory of one entry: tag 274, a SHORT.
function exifOf(orientation: number): Buffer {
  return Buffer.from(
    `II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0${String.fromCharCode(orientation)}${'\0'.repeat(7)}`,
    'latin1',
  );
}

function chunk(type: string, ...data: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), ...data]);
  const chunk = Buffer.alloc(8 + content.length);
  chunk.writeUInt32BE(content.length - 4);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), 4 + content.length);
  return chunk;
}
