import type { SourceReader } from '../input/source-reader.ts';
import type { PhotoType } from '../media-type.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { bmpSize } from './bmp-size.ts';
import { gifSize } from './gif-size.ts';
import { avifSize, heicSize } from './heif-size.ts';
import { jpegSize } from './jpeg-size.ts';
import { pngSize } from './png-size.ts';
import { tiffSize } from './tiff-size.ts';
import { webpSize } from './webp-size.ts';

/**
 * Small readers of our own, all of them measured against sharp: it wants the whole file (webp, avif, heic, tiff), unpacks every text before
 * the pixels (png: a megabyte of them takes gigabytes), finds another size than browsers (a gif's), reads none (bmp), or costs a hundred
 * times as much and parses foreign bytes in native code of this process (jpg).
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

/** The displayed size of a photo: orientation applied, one frame, one page. No pixel is decoded. */
export function photoSize(reader: SourceReader, type: PhotoType): Promise<Size | UnsupportedReason> {
  return readers[type](reader);
}
