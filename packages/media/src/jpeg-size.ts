import { oriented } from './orientation.ts';
import { readPhotoHeader } from './read-photo-header.ts';
import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

/** A JPEG's frame header and the EXIF before it; of several pictures in one file (MPO) the first. */
export async function jpegSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await readPhotoHeader(reader);
  return typeof header === 'string' ? header : oriented(header, header.orientation);
}
