import type { Size } from '../size.ts';
/** What stands before the pixels of a JPEG. */
export interface JpegHeader extends Size {
  /** The content of the EXIF segment, where there is one. */
  readonly exif: Buffer | undefined;
}

const marks = {
  soi: 0xd8,
  eoi: 0xd9,
  sos: 0xda,
  dqt: 0xdb,
  dht: 0xc4,
  dac: 0xcc,
  dnl: 0xdc,
  dri: 0xdd,
  app0: 0xe0,
  app1: 0xe1,
  com: 0xfe,
};
// Baseline, extended, progressive and lossless, by Huffman or arithmetic coding; and the bits of their samples: what libjpeg reads.
const frames = [0xc0, 0xc1, 0xc2, 0xc3, 0xc9, 0xca, 0xcb];
const precisions = [8, 12, 16];
const tables = [marks.dqt, marks.dht, marks.dac, marks.dnl, marks.dri];
// RST0 to RST7 and TEM.
const withoutContent = [0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0x01];
// A large ICC profile takes 255, and so does extended XMP.
const mostSegments = 10_000;
// As libjpeg has it.
const longestSide = 65_500;

interface Segment {
  readonly marker: number;
  readonly content: Buffer;
  readonly end: number;
}

interface Frame {
  readonly size: Size;
  readonly components: readonly number[];
}

/**
 * Reads the segments of a JPEG, whose first two bytes are known to be its mark (ITU T.81 annex B) up to its first scan, as libjpeg does: the frame's size in pixels, and the first EXIF.
 * Undefined where `firstBytes` end before that, `broken` where libjpeg would not get so far, `too_costly` where there are more segments than any
 * program writes.
 */
export function readJpegHeader(firstBytes: Buffer): JpegHeader | 'broken' | 'too_costly' | undefined {
  let frame: Frame | undefined;
  let exif: Buffer | undefined;
  let at = 2;
  for (let n = 0; n < mostSegments; n += 1) {
    const segment = segmentFrom(firstBytes, at);
    if (typeof segment !== 'object') return segment;
    exif ??= exifIn(segment);
    if (segment.marker === marks.sos) return headerOf(segment.content, frame, exif);
    if (frames.includes(segment.marker)) {
      frame = frame ? undefined : readFrame(segment.content);
      if (!frame) return 'broken';
    }
    at = segment.end;
  }
  return 'too_costly';
}

function headerOf(scan: Buffer, frame: Frame | undefined, exif: Buffer | undefined): JpegHeader | 'broken' {
  return frame && isScan(scan, frame) ? { ...frame.size, exif } : 'broken';
}

function exifIn({ marker, content }: Segment): Buffer | undefined {
  return marker === marks.app1 && content.toString('latin1', 0, 6) === 'Exif\0\0' ? content : undefined;
}

function segmentFrom(bytes: Buffer, from: number): Segment | 'broken' | undefined {
  const markerAt = nextMarker(bytes, from);
  const marker = bytes[markerAt];
  if (marker === undefined) return undefined;
  const at = markerAt + 1;
  const isNote = (marker >= marks.app0 && marker < marks.app0 + 16) || marker === marks.com;
  if (!isNote && !frames.includes(marker) && !tables.includes(marker) && marker !== marks.sos) return 'broken';
  if (bytes.length < at + 2) return undefined;
  const length = bytes.readUInt16BE(at);
  if (length < 2 && !isNote) return 'broken';
  const end = at + Math.max(2, length);
  if (bytes.length < end) return undefined;
  const content = bytes.subarray(at + 2, end);
  return areTables(marker, content) ? { marker, content, end } : 'broken';
}

// The place of the byte that says which marker it is: behind any number of 0xff, and not 0. Markers without content, and what stands
// between segments, are passed over.
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at)) {
    while (bytes[at] === 0xff) at += 1;
    const marker = bytes[at];
    if (marker !== 0 && marker !== undefined && !withoutContent.includes(marker)) return at;
  }
  return bytes.length;
}

function readFrame(content: Buffer): Frame | undefined {
  const [precision = 0, , , , , count = 0] = content;
  if (!precisions.includes(precision) || ![1, 3, 4].includes(count) || content.length !== 6 + 3 * count)
    return undefined;
  const [height, width] = [content.readUInt16BE(1), content.readUInt16BE(3)];
  if (Math.min(width, height) < 1 || Math.max(width, height) > longestSide) return undefined;
  const components: number[] = [];
  for (let at = 6; at < content.length; at += 3) {
    const [across, down] = [content.readUInt8(at + 1) >> 4, content.readUInt8(at + 1) & 15];
    if (Math.min(across, down) < 1 || Math.max(across, down) > 4) return undefined;
    components.push(content.readUInt8(at));
  }
  return { size: { width, height }, components };
}

function isScan(content: Buffer, { components }: Frame): boolean {
  const [count = 0] = content;
  if (count < 1 || count > 4 || content.length !== 4 + 2 * count) return false;
  for (let n = 0; n < count; n += 1) if (!components.includes(content.readUInt8(1 + 2 * n))) return false;
  return true;
}

function areTables(marker: number, content: Buffer): boolean {
  if (marker === marks.dht) return areHuffmanTables(content);
  return marker !== marks.dqt || areQuantizers(content);
}

// Each is a class and a number, how many codes there are of each length, and as many values.
function areHuffmanTables(content: Buffer): boolean {
  let at = 0;
  while (content.length - at > 16) {
    const codes = content.subarray(at + 1, at + 17).reduce((sum, each) => sum + each, 0);
    if ((content.readUInt8(at) & 0xef) > 3 || codes > 256 || codes > content.length - at - 17) return false;
    at += 17 + codes;
  }
  return at === content.length;
}

// Each is a precision and a number, and 64 values of one byte or two.
function areQuantizers(content: Buffer): boolean {
  let at = 0;
  while (at < content.length) {
    const [which = 0] = content.subarray(at);
    if ((which & 15) > 3) return false;
    at += which >> 4 === 0 ? 65 : 129;
  }
  return at === content.length;
}
