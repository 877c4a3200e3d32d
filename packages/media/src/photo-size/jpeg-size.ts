import { fromFirstBytes } from '../input/first-bytes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { type MediaLimits, type Probe, probeOfSize, unsupported } from '../probe-outcome.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { readJpegHeader } from './jpeg-header.ts';
import { exifOrientation, oriented } from './orientation.ts';

/** A JPEG's frame header and the EXIF before its pixels; of several pictures in one file (MPO) the first. */
export function jpegSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  return fromFirstBytes(reader, sizeIn);
}

/** The probe of a JPEG by its first bytes alone, without a read; undefined if its header does not end in them. */
export async function probeJpeg(firstBytes: Buffer, limits: MediaLimits): Promise<Probe | undefined> {
  if (limits.typesOff?.has('jpg')) return unsupported('type_off');
  const size = await sizeIn(firstBytes);
  return size && probeOfSize('jpg', size, limits);
}

async function sizeIn(firstBytes: Buffer): Promise<Size | UnsupportedReason | undefined> {
  const header = readJpegHeader(firstBytes);
  if (typeof header !== 'object') return header;
  return oriented(header, header.exif && (await exifOrientation(header.exif)));
}
