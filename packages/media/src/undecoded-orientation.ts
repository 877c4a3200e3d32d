import { open } from 'node:fs/promises';
import { heicExifOrientation } from './heif-size.ts';
import type { MediaType } from './media-type.ts';
import { orientationBehindPixels } from './png-size.ts';
import { readPhotoHeader } from './read-photo-header.ts';
import { SourceReader } from './source-reader.ts';

const headBytes = 16 * 1024;

/**
 * The EXIF orientation (1 to 8) that counts for a photo's displayed size, but that its decoder does not apply: sharp
 * knows none behind a PNG's pixels, libheif none of a HEIC. Undefined where the decoder tells all, or there is none.
 */
export async function undecodedOrientation(path: string, type: MediaType): Promise<number | undefined> {
  if (type !== 'png' && type !== 'heic') return undefined;
  await using file = await open(path);
  const { size } = await file.stat();
  const read = async (offset: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  };
  const source = { size, head: await read(0, Math.min(size, headBytes)), read };
  // Whoever waits for the pictures bounds the process in which this runs.
  const reader = new SourceReader(source, new AbortController().signal);
  return await (type === 'heic' ? heicExifOrientation(reader) : pngOrientation(reader));
}

async function pngOrientation(reader: SourceReader): Promise<number | undefined> {
  const header = await readPhotoHeader(reader);
  const isDecoded = typeof header === 'string' || header.orientation !== undefined;
  return isDecoded ? undefined : orientationBehindPixels(reader);
}
