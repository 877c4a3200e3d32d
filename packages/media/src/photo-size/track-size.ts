import { contentsOf } from '../input/iso-boxes.ts';
import type { Size } from '../size.ts';

// A track's header ends with nine numbers of a matrix and the size, all in fixed point (ISO/IEC 14496-12 section 8.3).
const fromEnd = { matrix: 44, width: 8, height: 4 };

/** The displayed size of the first track of a kind in a `moov` box without its header: turned as its matrix says. */
export function trackSize(moov: Buffer, handler: string): Size | undefined {
  const track = contentsOf(moov, 'trak').find((trak) => handlerOf(trak) === handler);
  const header = track && contentsOf(track, 'tkhd')[0];
  if (!header || header.length < fromEnd.matrix) return undefined;
  const size = {
    width: header.readUInt16BE(header.length - fromEnd.width),
    height: header.readUInt16BE(header.length - fromEnd.height),
  };
  const [straight, across] = [0, 4].map((at) => Math.abs(header.readInt32BE(header.length - fromEnd.matrix + at)));
  return (across ?? 0) > (straight ?? 0) ? { width: size.height, height: size.width } : size;
}

function handlerOf(trak: Buffer): string | undefined {
  const hdlr = contentsOf(trak, 'mdia').flatMap((mdia) => contentsOf(mdia, 'hdlr'))[0];
  return hdlr?.toString('latin1', 8, 12);
}
