import { bmpSize } from './bmp-size.ts';
import { gifSize } from './gif-size.ts';
import { displayedSize } from './guarded-sharp.ts';
import { heifSize } from './heif-size.ts';
import type { PhotoType } from './media-type.ts';
import type { SourceReader } from './source-reader.ts';
import { tiffSize } from './tiff-size.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';
import { webpSize } from './webp-size.ts';

/**
 * sharp reads the headers of JPEG and PNG from their first bytes. Of the others it wants the whole file (webp, avif,
 * heic, tiff), finds the wrong size (a gif whose first frame is smaller than its screen) or reads none (bmp): they
 * have small readers of their own, all of them measured against it.
 */
const readers: Record<PhotoType, (reader: SourceReader) => Promise<Size | UnsupportedReason>> = {
  jpg: sizeFromFirstBytes,
  png: sizeFromFirstBytes,
  gif: gifSize,
  webp: webpSize,
  avif: heifSize,
  heic: heifSize,
  tiff: tiffSize,
  bmp: bmpSize,
};

/** The displayed size of a photo: orientation applied, one frame, one page. No pixel is decoded. */
export function photoSize(reader: SourceReader, type: PhotoType): Promise<Size | UnsupportedReason> {
  return readers[type](reader);
}

const firstRead = 64 * 1024;
const mostBytes = 8 * 1024 * 1024;

// Previews, colour profiles and depth maps may stand before a JPEG's frame header: more is read, in doubling steps,
// while the header does not end.
async function sizeFromFirstBytes(reader: SourceReader): Promise<Size | UnsupportedReason> {
  let bytes = reader.known;
  for (let more = firstRead; ; more = bytes.length) {
    const size = await displayedSize(bytes);
    if (size) return size;
    if (bytes.length >= reader.size) return 'broken';
    if (bytes.length + more > mostBytes) return 'too_costly';
    bytes = await reader.prefix(bytes.length + more);
  }
}
