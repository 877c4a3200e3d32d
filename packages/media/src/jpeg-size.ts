import { fromFirstBytes } from './first-bytes.ts';
import { jpegHeader } from './guarded-sharp.ts';
import { oriented } from './orientation.ts';
import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

/** A JPEG's frame header and the EXIF before it; of several pictures in one file (MPO) the first. */
export async function jpegSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await fromFirstBytes(reader, jpegHeader);
  return typeof header === 'string' ? header : oriented(header, header.orientation);
}
