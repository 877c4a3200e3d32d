import type { SourceReader } from '../input/source-reader.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { parsePrefix } from './parse-prefix.ts';

const screenBytes = 13;
const extension = 0x21;
const frame = 0x2c;

/**
 * The logical screen of a GIF (GIF89a section 18), extended to the right and down to fit the first frame, as browsers
 * do. Some encoders write a screen of size zero. One with a single side of zero counts as none, as in libvips.
 */
export function gifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  return parsePrefix(reader, screenSize);
}

/** The extended screen; undefined if `gif` ends before its first frame. */
function screenSize(gif: Buffer): Size | undefined {
  if (gif.length < screenBytes) return undefined;
  const written = { width: gif.readUInt16LE(6), height: gif.readUInt16LE(8) };
  const screen = written.width === 0 || written.height === 0 ? { width: 0, height: 0 } : written;
  const flags = gif.readUInt8(10);
  let at = screenBytes + ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  // An extension (section 23 and others): two bytes, then sub-blocks.
  while (gif[at] === extension) at = endOfSubBlocks(gif, at + 2);
  if (at < gif.length && gif[at] !== frame) return screen;
  if (at + 9 > gif.length) return undefined;
  const [left = 0, top = 0, width = 0, height = 0] = [1, 3, 5, 7].map((field) => gif.readUInt16LE(at + field));
  return { width: Math.max(screen.width, left + width), height: Math.max(screen.height, top + height) };
}

// Each sub-block begins with its length; one of length zero is the last (section 15).
function endOfSubBlocks(gif: Buffer, start: number): number {
  let at = start;
  while (at < gif.length && gif[at] !== 0) at += 1 + (gif[at] ?? 0);
  return at + 1;
}
