import type { SourceReader } from '../input/source-reader.ts';
import type { PhotoType } from '../media-type.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { bmpSize } from './bmp-size.ts';
import { gifSize } from './gif-size.ts';
import { avifSize, heicSize } from './heif-size.ts';
import { jpegSize } from './jpeg-size.ts';
import { pngSize } from './png-size.ts';
import { tiffSize } from './tiff-size.ts';
import { webpSize } from './webp-size.ts';

/**
 * Own readers instead of sharp, which needs the whole file (webp, avif, heic, tiff), unpacks every text before the pixels
 * (png: gigabytes for a megabyte), returns another size than browsers (gif), cannot read it (bmp), or takes a hundred times as
 * long and parses untrusted bytes in native code of this process (jpg). Tests compare them with sharp.
 */
const readers: Record<PhotoType, (reader: SourceReader) => Promise<Size | UnsupportedReason>> = {
  jpg: jpegSize,
  png: pngSize,
  gif: gifSize,
  webp: webpSize,
  avif: avifSize,
  heic: heicSize,
  tiff: tiffSize,
  bmp: bmpSize,
};

/** The displayed size of the first frame or page of a photo, orientation applied. Decodes no pixels. */
export function photoSize(reader: SourceReader, type: PhotoType): Promise<Size | UnsupportedReason> {
  return readers[type](reader);
}
