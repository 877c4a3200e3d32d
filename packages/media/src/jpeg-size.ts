import { fromFirstBytes } from './first-bytes.ts';
import { readJpegHeader } from './jpeg-header.ts';
import { exifOrientation, oriented } from './orientation.ts';
import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

/** A JPEG's frame header and the EXIF before its pixels; of several pictures in one file (MPO) the first. */
export async function jpegSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const header = await fromFirstBytes(reader, readJpegHeader);
  if (typeof header === 'string') return header;
  return oriented(header, header.exif && (await exifOrientation(header.exif)));
}
