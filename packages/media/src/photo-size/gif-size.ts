import { fromFirstBytes } from '../input/first-bytes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';

const screenBytes = 13;
/** How the blocks of a GIF begin (appendix A). */
export const [extension, frame] = [0x21, 0x2c] as const;

/** The logical screen of a GIF, as browsers show it. */
export function gifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  return fromFirstBytes(reader, gifScreen);
}

export interface GifScreen extends Size {
  /** Where the first block begins: what stands before is the same for all frames. */
  readonly blocksAt: number;
  /** Whether the first frame leaves none of it free. */
  readonly isCovered: boolean;
}

/**
 * The logical screen upon which the frames are drawn (GIF89a section 18), undefined where `gif` ends before its first
 * frame. Where that does not fit, the screen grows to the right and below, as in browsers; some programs write a screen
 * of no size.
 */
export function gifScreen(gif: Buffer): GifScreen | undefined {
  if (gif.length < screenBytes) return undefined;
  const screen = { width: gif.readUInt16LE(6), height: gif.readUInt16LE(8) };
  const blocksAt = screenBytes + coloursBytes(gif.readUInt8(10));
  let at = blocksAt;
  // An extension (section 23 and others): two bytes, then sub-blocks.
  while (gif[at] === extension) at = behindSubBlocks(gif, at + 2);
  if (at < gif.length && gif[at] !== frame) return { ...screen, blocksAt, isCovered: false };
  if (at + 9 > gif.length) return undefined;
  const [left = 0, top = 0, width = 0, height = 0] = [1, 3, 5, 7].map((field) => gif.readUInt16LE(at + field));
  const grown = { width: Math.max(screen.width, left + width), height: Math.max(screen.height, top + height) };
  const isCovered = width === grown.width && height === grown.height;
  return { ...grown, blocksAt, isCovered };
}

/** A table of colours follows where the flags say so: three bytes each, as many as a power of two. */
export function coloursBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Where sub-blocks end: each begins with its length, and one of no length is the last (section 15). */
export function behindSubBlocks(gif: Buffer, start: number): number {
  let at = start;
  while (at < gif.length && gif[at] !== 0) at += 1 + (gif[at] ?? 0);
  return at + 1;
}
