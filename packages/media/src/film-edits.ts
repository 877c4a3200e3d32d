import { contentsOf, mostBoxes, mostMoov, outerBoxes } from './iso-boxes.ts';
import { lookAtFile } from './local-source.ts';
import type { VideoType } from './media-type.ts';
import type { SourceReader } from './source-reader.ts';
import { handlerOf } from './track-size.ts';

// Pictures of a tenth of a second at either end are not what people cut away: programs round their edits to that.
const mostSeconds = 0.1;

const withEdits: readonly VideoType[] = ['mp4', 'mov', '3gp'];

/**
 * Whether a film holds pictures that its edits cut away (ISO/IEC 14496-12 section 8.6.6), as programs write it that trim without coding
 * anew: a copy of its pictures would hold them too, or show them.
 */
export async function hidesPictures({
  path,
  type,
}: {
  readonly path: string;
  readonly type: VideoType;
}): Promise<boolean> {
  if (!withEdits.includes(type)) return false;
  return lookAtFile(path, async (reader) => {
    const moov = await moovOf(reader);
    const [header] = moov ? contentsOf(moov, 'mvhd') : [];
    if (!moov || !header) return false;
    const tracks = contentsOf(moov, 'trak').filter((trak) => handlerOf(trak) === 'vide');
    return tracks.some((trak) => cutsAway(trak, timescaleOf(header)));
  });
}

async function moovOf(reader: SourceReader): Promise<Buffer | undefined> {
  for await (const { type, content, end } of outerBoxes(reader, mostBoxes)) {
    if (type === 'moov' && end - content <= mostMoov) return reader.at(content, end - content);
  }
  return undefined;
}

function cutsAway(trak: Buffer, movieTimescale: number): boolean {
  const [edit, ...more] = editsOf(trak).filter(({ mediaTime }) => mediaTime !== emptyEdit);
  if (!edit) return false;
  if (more.length > 0) return true;
  const { timescale, first, total } = timesOf(trak);
  // A film in fragments tells their times later, and has edits for what its coding delays.
  if (total === 0) return false;
  const before = (edit.mediaTime - first) / timescale;
  const shown = edit.duration / movieTimescale;
  const after = shown === 0 ? 0 : total / timescale - before - shown;
  return Math.max(before, after) > mostSeconds;
}

interface Edit {
  /** In the movie's time scale; 0 where it lasts to the end. */
  readonly duration: number;
  /** In the track's time scale. */
  readonly mediaTime: number;
}

const emptyEdit = -1;

function editsOf(trak: Buffer): Edit[] {
  const [elst] = inside(trak, 'edts', 'elst');
  if (!elst || elst.length < 8) return [];
  const isLong = elst[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  const count = Math.min(elst.readUInt32BE(4), Math.floor((elst.length - 8) / entryBytes));
  return Array.from({ length: count }, (_, n) => {
    const at = 8 + n * entryBytes;
    return isLong
      ? { duration: Number(elst.readBigUInt64BE(at)), mediaTime: Number(elst.readBigInt64BE(at + 8)) }
      : { duration: elst.readUInt32BE(at), mediaTime: elst.readInt32BE(at + 4) };
  });
}

/** Of a track, in its own time scale: when its first picture is shown, and how long all of them last. */
function timesOf(trak: Buffer): { timescale: number; first: number; total: number } {
  const [header] = inside(trak, 'mdia', 'mdhd');
  const [stts, ctts] = ['stts', 'ctts'].map((type) => inside(trak, 'mdia', 'minf', 'stbl', type)[0]);
  const total = runsOf(stts).reduce((sum, { samples, length }) => sum + samples * length, 0);
  const first = ctts && ctts.length >= 16 ? ctts.readInt32BE(12) : 0;
  return { timescale: header ? timescaleOf(header) : 1, first, total };
}

function runsOf(stts: Buffer = Buffer.alloc(8)): { samples: number; length: number }[] {
  const count = stts.length < 8 ? 0 : Math.min(stts.readUInt32BE(4), Math.floor((stts.length - 8) / 8));
  return Array.from({ length: count }, (_, n) => ({
    samples: stts.readUInt32BE(8 + n * 8),
    length: stts.readUInt32BE(12 + n * 8),
  }));
}

// Of `mvhd` and `mdhd`, behind two times whose length their version tells.
function timescaleOf(header: Buffer): number {
  const at = header[0] === 1 ? 20 : 12;
  return (header.length >= at + 4 && header.readUInt32BE(at)) || 1;
}

function inside(bytes: Buffer, ...[type, ...deeper]: readonly string[]): Buffer[] {
  if (type === undefined) return [bytes];
  return contentsOf(bytes, type).flatMap((content) => inside(content, ...deeper));
}
