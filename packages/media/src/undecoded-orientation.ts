import { heicExifOrientation } from './heif-size.ts';
import { lookAtFile } from './local-source.ts';
import type { MediaType } from './media-type.ts';
import { orientationBehindPixels } from './png-size.ts';
import { readPhotoHeader } from './read-photo-header.ts';
import type { SourceReader } from './source-reader.ts';

/**
 * The EXIF orientation (1 to 8) that counts for a photo's displayed size, but that its decoder does not apply: sharp
 * knows none behind a PNG's pixels, libheif none of a HEIC. Undefined where the decoder tells all, or there is none.
 */
export async function undecodedOrientation(path: string, type: MediaType): Promise<number | undefined> {
  if (type === 'png') return lookAtFile(path, pngOrientation);
  if (type === 'heic') return lookAtFile(path, heicExifOrientation);
  return undefined;
}

async function pngOrientation(reader: SourceReader): Promise<number | undefined> {
  const header = await readPhotoHeader(reader);
  const isDecoded = typeof header === 'string' || header.orientation !== undefined;
  return isDecoded ? undefined : orientationBehindPixels(reader);
}
