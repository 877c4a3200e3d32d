import { parsePrefix, type SourceReader } from '../input/source-reader.ts';
import { type MediaLimits, type Probe, toProbe, type UnsupportedReason, unsupported } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { parseJpegHeader } from './jpeg-header.ts';
import { orientSize, parseExifOrientation } from './orientation.ts';

/** The size in a JPEG's frame header, with the orientation of its EXIF; of several pictures (MPO) the first. */
export function jpegSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  return parsePrefix(reader, parseSize);
}

/** Probes a JPEG by its first bytes, without a read. Undefined if its header is longer. */
export async function probeJpeg(firstBytes: Buffer, limits: MediaLimits): Promise<Probe | undefined> {
  if (limits.typesOff?.has('jpg')) return unsupported('type_off');
  const size = await parseSize(firstBytes);
  return size && toProbe('jpg', size, limits);
}

async function parseSize(firstBytes: Buffer): Promise<Size | UnsupportedReason | undefined> {
  const header = parseJpegHeader(firstBytes);
  if (typeof header !== 'object') return header;
  return orientSize(header, header.exif && (await parseExifOrientation(header.exif)));
}
