import { lookAtFile } from '../input/local-source.ts';
import type { MediaType } from '../media-type.ts';
import { heicExifOrientation } from '../photo-size/heif-size.ts';
import { pngOrientation } from '../photo-size/png-size.ts';

/**
 * The EXIF orientation (1 to 8) that counts for a photo's displayed size, but that its decoder does not apply: of a PNG
 * sharp is given the pixels alone, and libheif knows none of a HEIC. Undefined where the decoder tells all, or there is
 * none.
 */
export async function undecodedOrientation(path: string, type: MediaType): Promise<number | undefined> {
  if (type === 'png') return lookAtFile(path, pngOrientation);
  if (type === 'heic') return lookAtFile(path, heicExifOrientation);
  return undefined;
}
