import { ftyp, isoBox, u32 } from '../samples/sample-iso.ts';

/** A hand-made track: the codec and size that it claims, and the location of its pictures. */
export interface HostileTrack {
  readonly codec?: string;
  readonly width?: number;
  readonly height?: number;
  /** The data reference. Default: the pictures are in the same file. */
  readonly reference?: Buffer;
  /** Replaces the sample table's `stts`. */
  readonly times?: Buffer;
}

const here = isoBox('url ', u32(1));

/** An index (`moov`) of `tracks`, with the boxes `first` before them. */
export function moov(tracks: readonly HostileTrack[], ...first: readonly Buffer[]): Buffer {
  const mvhd = isoBox('mvhd', u32(0, 0, 0, 1000, 1000, 0x10000), Buffer.alloc(76));
  return isoBox('moov', ...first, mvhd, ...tracks.map(track));
}

/** A video of one track without pictures. */
export function video(track: HostileTrack, brand = 'isom'): Buffer {
  return Buffer.concat([ftyp(brand), moov([track]), isoBox('mdat', Buffer.alloc(64))]);
}

function track(
  { codec = 'jpeg', width = 320, height = 240, reference = here, times }: HostileTrack,
  n: number,
): Buffer {
  const tkhd = isoBox('tkhd', u32(1, 0, 0, n + 1, 0, 1000), Buffer.alloc(52), u32(width * 65_536, height * 65_536));
  const handler = isoBox('hdlr', u32(0, 0), Buffer.from('vide\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'));
  const look = Buffer.alloc(78);
  look.writeUInt16BE(1, 6);
  look.writeUInt16BE(width & 0xffff, 24);
  look.writeUInt16BE(height & 0xffff, 26);
  look.writeUInt16BE(24, 74);
  look.writeInt16BE(-1, 76);
  const stbl = isoBox(
    'stbl',
    isoBox('stsd', u32(0, 1), isoBox(codec, look)),
    times ?? isoBox('stts', u32(0, 1, 1, 1000)),
    isoBox('stsc', u32(0, 1, 1, 1, 1)),
    isoBox('stsz', u32(0, 16, 1)),
    isoBox('stco', u32(0, 1, 40)),
  );
  const dinf = isoBox('dinf', isoBox('dref', u32(0, 1), reference));
  const minf = isoBox('minf', isoBox('vmhd', u32(1, 0, 0)), dinf, stbl);
  const mdhd = isoBox('mdhd', u32(0, 0, 0, 1000, 1000, 0x55c40000));
  return isoBox('trak', tkhd, isoBox('mdia', mdhd, handler, minf));
}
