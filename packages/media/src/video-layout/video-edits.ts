import { contentsOf } from '../input/iso-boxes.ts';
import { lookAtFile } from '../input/local-source.ts';
import type { VideoType } from '../media-type.ts';
import type { Track } from './ffprobe.ts';
import { inside, moovOf } from './mp4-tracks.ts';

// Pictures of a tenth of a second at either end are not what people cut away: programs round their edits to that.
const mostSeconds = 0.1;

/** Types whose tracks have edits, and a `moov` box that tells of all. */
export const isoTypes: readonly VideoType[] = ['mp4', 'mov', '3gp'];
// A video may say that it has millions, and more than one that shows something are as good as all.
const mostEdits = 1000;

interface LyingVideo {
  readonly path: string;
  readonly type: VideoType;
  readonly track: Pick<Track, 'index'>;
}

/**
 * Whether a video's track holds pictures that its edits cut away (ISO/IEC 14496-12 section 8.6.6), as programs write it that trim without
 * coding anew: a copy of the track would hold them too, or show them. Of a video in fragments it is not known: ffmpeg heeds no edits there.
 */
export async function hidesPictures({ path, type, track }: LyingVideo): Promise<boolean> {
  if (!isoTypes.includes(type)) return false;
  return lookAtFile(path, async (reader) => {
    const moov = await moovOf(reader);
    const [header] = moov ? contentsOf(moov, 'mvhd') : [];
    const trak = moov && contentsOf(moov, 'trak')[track.index];
    return header && trak ? cutsAway(trak, timescaleOf(header)) : moov !== undefined;
  });
}

function cutsAway(trak: Buffer, movieTimescale: number): boolean {
  const { timescale, first, last } = timesOf(trak);
  if (last === undefined) return false;
  const [edit, ...more] = editsOf(trak);
  if (!edit || more.length > 0) return more.length > 0;
  const before = Math.max(0, edit.mediaTime - first) / timescale;
  const after = last / timescale - before - edit.duration / movieTimescale;
  return Math.max(before, after) > mostSeconds;
}

interface Edit {
  /** In the movie's time scale. */
  readonly duration: number;
  /** In the track's time scale. */
  readonly mediaTime: number;
}

const emptyEdit = -1;

// From the first on that shows something.
function editsOf(trak: Buffer): Edit[] {
  const edits = inside(trak, 'edts', 'elst').flatMap(editsIn);
  const begin = edits.findIndex(({ mediaTime }) => mediaTime !== emptyEdit);
  return begin < 0 ? [] : edits.slice(begin);
}

function editsIn(elst: Buffer): Edit[] {
  const isLong = elst[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  return Array.from({ length: Math.min(entriesIn(elst, entryBytes), mostEdits) }, (_, n) => {
    const at = 8 + n * entryBytes;
    return isLong
      ? { duration: Number(elst.readBigUInt64BE(at)), mediaTime: Number(elst.readBigInt64BE(at + 8)) }
      : { duration: elst.readUInt32BE(at), mediaTime: elst.readInt32BE(at + 4) };
  });
}

/** Of a track, in its own time scale: when its first picture is shown, and when its last begins, counted from the first; undefined in fragments. */
function timesOf(trak: Buffer): { timescale: number; first: number; last: number | undefined } {
  const [header] = inside(trak, 'mdia', 'mdhd');
  const [stts, ctts] = ['stts', 'ctts'].map((type) => inside(trak, 'mdia', 'minf', 'stbl', type)[0]);
  const first = ctts && ctts.length >= 16 ? ctts.readInt32BE(12) : 0;
  return { timescale: header ? timescaleOf(header) : 1, first, last: stts && lastBegin(stts) };
}

// Runs of pictures that each last as long (section 8.6.1.2). There may be millions of them.
function lastBegin(stts: Buffer): number | undefined {
  let end = 0;
  let length: number | undefined;
  const bound = 8 + 8 * entriesIn(stts, 8);
  for (let at = 8; at < bound; at += 8) {
    length = stts.readInt32BE(at + 4);
    end += stts.readUInt32BE(at) * length;
  }
  return length === undefined ? undefined : end - length;
}

// Of a table: how many entries it says that it has, and has.
function entriesIn(table: Buffer, entryBytes: number): number {
  return table.length < 8 ? 0 : Math.min(table.readUInt32BE(4), Math.floor((table.length - 8) / entryBytes));
}

// Of `mvhd` and `mdhd`, behind two times whose length their version tells.
function timescaleOf(header: Buffer): number {
  const at = header[0] === 1 ? 20 : 12;
  return (header.length >= at + 4 && header.readUInt32BE(at)) || 1;
}
