import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, parseExifOrientation } from '../input/tiff-directory.ts';
import { type MediaLimits, type Probe, toProbe, type UnsupportedReason, unsupported } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { parsePrefix } from './parse-prefix.ts';

/** The header of a JPEG. */
interface JpegHeader extends Size {
  /** The content of the EXIF segment. */
  readonly exif: Buffer | undefined;
}

const markers = { sos: 0xda, dqt: 0xdb, dht: 0xc4, dac: 0xcc, dnl: 0xdc, dri: 0xdd, app0: 0xe0, app1: 0xe1, com: 0xfe };
// Supported by libjpeg: baseline, extended, progressive and lossless, Huffman or arithmetic coding; and bits per sample.
const frameMarkers = [0xc0, 0xc1, 0xc2, 0xc3, 0xc9, 0xca, 0xcb];
const precisions = [8, 12, 16];
const tableMarkers = [markers.dqt, markers.dht, markers.dac, markers.dnl, markers.dri];
// These markers have no content: RST0 to RST7 and TEM.
const emptyMarkers = [0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0x01];
// A large ICC profile takes 255, as does extended XMP.
const maxSegments = 10_000;
// libjpeg decodes no longer side.
const maxSide = 65_500;

interface Segment {
  readonly marker: number;
  readonly content: Buffer;
  readonly end: number;
}

interface Frame {
  readonly size: Size;
  readonly components: readonly number[];
}

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

/**
 * Parses the segments of a JPEG (ITU T.81 annex B) up to its first scan, as libjpeg does: the frame's size in pixels and the
 * first EXIF. The caller has checked the first two bytes.
 * @returns undefined if `prefix` ends before the scan, `broken` if libjpeg would fail, `too_costly` for more segments than any
 * program writes
 */
function parseJpegHeader(prefix: Buffer): JpegHeader | 'broken' | 'too_costly' | undefined {
  let frame: Frame | undefined;
  let exif: Buffer | undefined;
  let at = 2;
  for (let n = 0; n < maxSegments; n += 1) {
    const segment = parseSegment(prefix, at);
    if (typeof segment !== 'object') return segment;
    exif ??= findExif(segment);
    if (segment.marker === markers.sos) return toHeader(segment.content, frame, exif);
    if (frameMarkers.includes(segment.marker)) {
      frame = frame ? undefined : parseFrame(segment.content);
      if (!frame) return 'broken';
    }
    at = segment.end;
  }
  return 'too_costly';
}

function toHeader(scan: Buffer, frame: Frame | undefined, exif: Buffer | undefined): JpegHeader | 'broken' {
  return frame && isValidScan(scan, frame) ? { ...frame.size, exif } : 'broken';
}

function findExif({ marker, content }: Segment): Buffer | undefined {
  return marker === markers.app1 && content.toString('latin1', 0, 6) === 'Exif\0\0' ? content : undefined;
}

function parseSegment(bytes: Buffer, from: number): Segment | 'broken' | undefined {
  const markerAt = findMarker(bytes, from);
  const marker = bytes[markerAt];
  if (marker === undefined) return undefined;
  const at = markerAt + 1;
  const isMetadata = (marker >= markers.app0 && marker < markers.app0 + 16) || marker === markers.com;
  if (!isMetadata && !frameMarkers.includes(marker) && !tableMarkers.includes(marker) && marker !== markers.sos)
    return 'broken';
  if (bytes.length < at + 2) return undefined;
  const length = bytes.readUInt16BE(at);
  if (length < 2 && !isMetadata) return 'broken';
  const end = at + Math.max(2, length);
  if (bytes.length < end) return undefined;
  const content = bytes.subarray(at + 2, end);
  return isValidTable(marker, content) ? { marker, content, end } : 'broken';
}

// The offset of the marker's code, after any number of 0xff, and not 0. Skips markers without content, and bytes between
// segments.
function findMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at)) {
    while (bytes[at] === 0xff) at += 1;
    const marker = bytes[at];
    if (marker !== 0 && marker !== undefined && !emptyMarkers.includes(marker)) return at;
  }
  return bytes.length;
}

function parseFrame(content: Buffer): Frame | undefined {
  const [precision = 0, , , , , count = 0] = content;
  if (!precisions.includes(precision) || ![1, 3, 4].includes(count) || content.length !== 6 + 3 * count)
    return undefined;
  const height = content.readUInt16BE(1);
  const width = content.readUInt16BE(3);
  if (Math.min(width, height) < 1 || Math.max(width, height) > maxSide) return undefined;
  const components: number[] = [];
  for (let at = 6; at < content.length; at += 3) {
    const across = content.readUInt8(at + 1) >> 4;
    const down = content.readUInt8(at + 1) & 15;
    if (Math.min(across, down) < 1 || Math.max(across, down) > 4) return undefined;
    components.push(content.readUInt8(at));
  }
  return { size: { width, height }, components };
}

function isValidScan(content: Buffer, { components }: Frame): boolean {
  const [count = 0] = content;
  if (count < 1 || count > 4 || content.length !== 4 + 2 * count) return false;
  for (let n = 0; n < count; n += 1) if (!components.includes(content.readUInt8(1 + 2 * n))) return false;
  return true;
}

function isValidTable(marker: number, content: Buffer): boolean {
  if (marker === markers.dht) return areValidHuffmanTables(content);
  return marker !== markers.dqt || areValidQuantizers(content);
}

// Each has a class and an id, the number of codes per length, and as many values.
function areValidHuffmanTables(content: Buffer): boolean {
  let at = 0;
  while (content.length - at > 16) {
    const codes = content.subarray(at + 1, at + 17).reduce((sum, each) => sum + each, 0);
    if ((content.readUInt8(at) & 0xef) > 3 || codes > 256 || codes > content.length - at - 17) return false;
    at += 17 + codes;
  }
  return at === content.length;
}

// Each has a precision and an id, and 64 values of one byte or two.
function areValidQuantizers(content: Buffer): boolean {
  let at = 0;
  while (at < content.length) {
    const [which = 0] = content.subarray(at);
    if ((which & 15) > 3) return false;
    at += which >> 4 === 0 ? 65 : 129;
  }
  return at === content.length;
}
