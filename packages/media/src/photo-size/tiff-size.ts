import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, readFirstDirectory, type TiffDirectory } from '../input/tiff-directory.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';

const tags = {
  subfileType: 254,
  width: 256,
  height: 257,
  compression: 259,
  photometric: 262,
  orientation: 274,
  subDirectories: 330,
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
  return orientSize({ width, height }, directory.get(tags.orientation));
}

// Raw files begin with a small preview (subfile type 1), with the picture in a subdirectory.
function isCameraRaw(directory: TiffDirectory): boolean {
  const isPreviewFirst = directory.get(tags.subfileType) === 1 && directory.has(tags.subDirectories);
  return directory.has(tags.dngVersion) || directory.get(tags.photometric) === colourFilterArray || isPreviewFirst;
}
