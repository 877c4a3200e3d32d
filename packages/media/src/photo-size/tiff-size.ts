import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, readFirstDirectory, type TiffDirectory } from '../input/tiff-directory.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';

const tags = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  orientation: 274,
  samplesPerPixel: 277,
  subDirectories: 330,
  extraSamples: 338,
  dngVersion: 50706,
} as const;

// Read by sharp's libtiff: none, CCITT, LZW, JPEG, Deflate, NeXT, PackBits, ThunderScan, PixarLog, LogLuv, WebP. Pictures in
// others (JPEG from before 1995, ZSTD, LZMA, JPEG 2000, JPEG XL) would be black.
const supportedCompressions = [1, 2, 3, 4, 5, 7, 8, 32766, 32771, 32773, 32809, 32909, 32946, 34676, 34677, 50001];

const colourFilterArray = 32803;

/** The first page of a TIFF, orientation applied. Camera raw formats based on TIFF (DNG, NEF, ARW) are not accepted. */
export async function tiffSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const directory = await readFirstDirectory((offset, length) => reader.at(offset, length));
  const width = directory?.get(tags.width);
  const height = directory?.get(tags.height);
  if (!directory || width === undefined || height === undefined) return 'broken';
  if (isCameraRaw(directory)) return 'unknown_type';
  const compression = directory.get(tags.compression);
  if (compression !== undefined && !supportedCompressions.includes(compression)) return 'codec';
  if (!(await hasKnownColours(directory))) return 'codec';
  return orientSize({ width, height }, directory.get(tags.orientation));
}

/** The kinds of the samples that a pixel has beyond its colours: 1 and 2 are alpha (TIFF 6.0, "ExtraSamples"). */
export async function readExtraSamples(reader: SourceReader): Promise<readonly number[]> {
  const directory = await readFirstDirectory((offset, length) => reader.at(offset, length));
  const colours = coloursOf[directory?.get(tags.photometric) ?? rgb] ?? 3;
  const length = Math.max(0, (directory?.get(tags.samplesPerPixel) ?? 1) - colours);
  // Readers take a single one for alpha if nothing says otherwise.
  if (length === 1 && !directory?.has(tags.extraSamples)) return [unassociatedAlpha];
  const kinds = (await directory?.shorts(tags.extraSamples)) ?? [];
  return Array.from({ length: Math.min(length, maxExtraSamples) }, (_, n) => kinds[n] ?? 0);
}

const unassociatedAlpha = 2;
// More than sharp reads.
const maxExtraSamples = 32;
const [rgb, ...labs] = [2, 8, 9, 10];
// Of grey (0 is white, 0 is black), palettes, masks and CMYK; others have three.
const coloursOf: Readonly<Record<number, number>> = { 0: 1, 1: 1, 3: 1, 4: 1, 5: 4 };

// libvips reads CIELab of 16 bits and without alpha only.
async function hasKnownColours(directory: TiffDirectory): Promise<boolean> {
  if (!labs.includes(directory.get(tags.photometric) ?? rgb)) return true;
  const [bits] = await directory.shorts(tags.bitsPerSample);
  return bits !== 8 && directory.get(tags.samplesPerPixel) === 3;
}

// Raw files begin with a small preview (subfile type 1), with the picture in a subdirectory.
function isCameraRaw(directory: TiffDirectory): boolean {
  const isPreviewFirst = directory.get(tags.subfileType) === 1 && directory.has(tags.subDirectories);
  return directory.has(tags.dngVersion) || directory.get(tags.photometric) === colourFilterArray || isPreviewFirst;
}
