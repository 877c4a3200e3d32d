import type { VideoType } from '../detect-media-type.ts';
import { inspectFile } from '../input/inspect-file.ts';
import { boxContents, contentsAt, entryCount, handlerType, readMoov } from '../input/iso-boxes.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import type { Track } from './ffprobe.ts';
import { isoTypes } from './video-codecs.ts';

// Editors round their edits, so less than this at either end was not cut on purpose.
const maxRoundingSeconds = 0.1;

// More than one is enough to know, and a hostile video has millions.
const maxEdits = 1000;

/** A track of a video file. */
export interface VideoTrack {
  readonly path: string;
  readonly type: VideoType;
  readonly track: Pick<Track, 'index' | 'startSeconds'>;
}

/**
 * Whether edits hide pictures of a video track (ISO/IEC 14496-12 section 8.6.6), as after trimming without transcoding: a
 * copy of the track would contain or show them. Of a fragmented video, only what they hide at its start counts.
 */
export async function hasHiddenPictures({ path, type, track }: VideoTrack): Promise<boolean> {
  if (!isoTypes.includes(type)) return false;
  if (hidesItsStart(track)) return true;
  return inspectFile(path, async (reader) => {
    const moov = await readMoov(reader);
    const [header] = moov ? boxContents(moov, 'mvhd') : [];
    const trak = moov && boxContents(moov, 'trak')[track.index];
    return header && trak ? hidesSamples(trak, timescaleOf(header)) : moov !== undefined;
  });
}

/**
 * Options of ffmpeg, before the video's path, that leave out what edits of a fragmented video hide at its start. ffmpeg applies other edits, but
 * gives such pictures times before 0.
 */
export function startOptions(type: VideoType, track: Pick<Track, 'startSeconds'>): readonly string[] {
  return isoTypes.includes(type) && hidesItsStart(track) ? ['-seek_timestamp', '1', '-ss', '0'] : [];
}

function hidesItsStart({ startSeconds }: Pick<Track, 'startSeconds'>): boolean {
  return startSeconds < -maxRoundingSeconds;
}

function hidesSamples(trak: Buffer, movieTimescale: number): boolean {
  const { timescale, first, last } = readTimes(trak);
  if (last === undefined) return false;
  const [edit, ...more] = readEdits(trak);
  if (!edit || more.length > 0) return more.length > 0;
  const before = Math.max(0, edit.mediaTime - first) / timescale;
  const after = last / timescale - before - edit.duration / movieTimescale;
  return Math.max(before, after) > maxRoundingSeconds;
}

interface Edit {
  /** In the movie's timescale. */
  readonly duration: number;
  /** In the track's timescale. */
  readonly mediaTime: number;
}

const emptyEdit = -1;

// Without the empty edits that delay the track.
function readEdits(trak: Buffer): Edit[] {
  const edits = contentsAt(trak, 'edts', 'elst').flatMap(parseEdits);
  const begin = edits.findIndex(({ mediaTime }) => mediaTime !== emptyEdit);
  return begin < 0 ? [] : edits.slice(begin);
}

function parseEdits(elst: Buffer): Edit[] {
  const isLong = elst[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  return Array.from({ length: Math.min(entryCount(elst, entryBytes), maxEdits) }, (_, n) => {
    const at = 8 + n * entryBytes;
    return isLong
      ? { duration: Number(elst.readBigUInt64BE(at)), mediaTime: Number(elst.readBigInt64BE(at + 8)) }
      : { duration: elst.readUInt32BE(at), mediaTime: elst.readInt32BE(at + 4) };
  });
}

/** The start of a track's first and last sample, in its timescale; the last counts from the first, and is undefined in fragments. */
function readTimes(trak: Buffer): { timescale: number; first: number; last: number | undefined } {
  const [header] = contentsAt(trak, 'mdia', 'mdhd');
  const [stts, ctts] = ['stts', 'ctts'].map((type) => contentsAt(trak, 'mdia', 'minf', 'stbl', type)[0]);
  const first = ctts && ctts.length >= 16 ? ctts.readInt32BE(12) : 0;
  return { timescale: header ? timescaleOf(header) : 1, first, last: stts && lastSampleStart(stts) };
}

// Runs of samples of the same duration (section 8.6.1.2). There may be millions.
function lastSampleStart(stts: Buffer): number | undefined {
  let end = 0;
  let length: number | undefined;
  const bound = 8 + 8 * entryCount(stts, 8);
  for (let at = 8; at < bound; at += 8) {
    length = stts.readInt32BE(at + 4);
    end += stts.readUInt32BE(at) * length;
  }
  return length === undefined ? undefined : end - length;
}

// In `mvhd` and `mdhd`, after two times whose length depends on the version.
function timescaleOf(header: Buffer): number {
  const at = header[0] === 1 ? 20 : 12;
  return (header.length >= at + 4 && header.readUInt32BE(at)) || 1;
}

/** Whether an MP4 from ffmpeg has a video track that is not empty. True if its `moov` is too large. @throws OutputRefused */
export async function hasPictures(path: string): Promise<boolean> {
  await using video = await openToolOutput(path, 'mp4');
  const moov = await readMoov(video.reader);
  return (
    moov === undefined ||
    boxContents(moov, 'trak').some((trak) => handlerType(trak) === 'vide' && sampleCount(trak) > 0)
  );
}

// ISO/IEC 14496-12 section 8.7.3.
function sampleCount(trak: Buffer): number {
  const [sizes] = contentsAt(trak, 'mdia', 'minf', 'stbl', 'stsz');
  return sizes && sizes.length >= 12 ? sizes.readUInt32BE(8) : 0;
}
