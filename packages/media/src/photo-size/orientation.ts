import { firstDirectory } from '../input/tiff-directory.ts';
import type { Size } from '../size.ts';

const orientationTag = 274;

/** The size as displayed: EXIF orientations 5 to 8 stand a picture on its side. */
export function oriented(size: Size, orientation: number | undefined): Size {
  const onItsSide = orientation !== undefined && orientation >= 5 && orientation <= 8;
  return onItsSide ? { width: size.height, height: size.width } : size;
}

/** The orientation in EXIF data as a container carries it, with or without the `Exif\0\0` that JPEG puts before. */
export async function exifOrientation(exif: Buffer): Promise<number | undefined> {
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  const directory = await firstDirectory(async (offset, length) => tiff.subarray(offset, offset + length), 'exif');
  return directory?.get(orientationTag);
}
