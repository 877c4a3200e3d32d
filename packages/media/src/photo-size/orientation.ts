import { readFirstDirectory } from '../input/tiff-directory.ts';
import type { Size } from '../size.ts';

const orientationTag = 274;

/** The displayed size: EXIF orientations 5 to 8 swap width and height. */
export function orientSize(size: Size, orientation: number | undefined): Size {
  const isSideways = orientation !== undefined && orientation >= 5 && orientation <= 8;
  return isSideways ? { width: size.height, height: size.width } : size;
}

/** The orientation in EXIF data, with or without the `Exif\0\0` prefix of JPEG. */
export async function parseExifOrientation(exif: Buffer): Promise<number | undefined> {
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  const directory = await readFirstDirectory(async (offset, length) => tiff.subarray(offset, offset + length), 'exif');
  return directory?.get(orientationTag);
}
