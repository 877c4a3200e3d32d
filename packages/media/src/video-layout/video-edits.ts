import { inspectFile } from '../input/inspect-file.ts';
import { boxContents, contentAt, entryCount, readMoov } from '../input/iso-boxes.ts';
import type { LocalVideo } from './read-video.ts';
import { decoderOptions, isoTypes, videoGuards } from './video-codecs.ts';

// Editors round their edits, so less than this at either end was not cut on purpose.
const maxRoundingSeconds = 0.1;

// More than one is enough to know, and a hostile video has millions.
const maxEdits = 1000;

/**
 * Whether a video track was trimmed or joined without transcoding, so that a copy would be wrong. Edits hide pictures of a trimmed one
 * (ISO/IEC 14496-12 section 8.6.6): a copy would contain or show them. Of a fragmented video, only what they hide at its start counts.
 */
export async function isTrimmedOrJoined(video: LocalVideo): Promise<boolean> {
  if (!isoTypes.includes(video.type)) return false;
  if (hidesItsStart(video)) return true;
  const moov = await inspectFile(video.path, readMoov);
  if (!moov) return false;
  const [header] = boxContents(moov, 'mvhd');
  const trak = boxContents(moov, 'trak')[video.picture.index];
  // Without a header or track, assume that something is hidden.
  return !header || !trak || hidesSamples(trak, timescaleOf(header)) || hasSeveralDescriptions(trak);
}

// Parts of a joined track have their own sample descriptions (section 8.5.2). A copy keeps the first, which decodes the other parts wrongly.
function hasSeveralDescriptions(trak: Buffer): boolean {
  const descriptions = contentAt(trak, 'mdia', 'minf', 'stbl', 'stsd');
  return descriptions !== undefined && descriptions.length >= 8 && descriptions.readUInt32BE(4) > 1;
}

/** A video as an input of ffmpeg: guards, decoder and path. What its edits hide is left out. */
export function ffmpegInput(video: LocalVideo): readonly string[] {
  const { path, type, picture } = video;
  // ffmpeg applies edits, but gives what those of a fragmented video hide at its start times before 0.
  const start = isoTypes.includes(type) && hidesItsStart(video) ? ['-seek_timestamp', '1', '-ss', '0'] : [];
  return [...videoGuards(type), ...decoderOptions(picture), ...start, '-i', `file:${path}`];
}

function hidesItsStart({ picture }: LocalVideo): boolean {
  return picture.startSeconds < -maxRoundingSeconds;
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
  /** The duration in the movie's timescale. */
  readonly duration: number;
  /** The start in the track's timescale. */
  readonly mediaTime: number;
}

const emptyEdit = -1;

// The empty edits that delay the track are left out.
function readEdits(trak: Buffer): Edit[] {
  const edits = boxContents(trak, 'edts').flatMap((edts) => boxContents(edts, 'elst').flatMap(parseEdits));
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

/** The start of a track's first and last sample, in its timescale; `last` is relative to `first`, and undefined in a fragmented video. */
function readTimes(trak: Buffer): { timescale: number; first: number; last: number | undefined } {
  const header = contentAt(trak, 'mdia', 'mdhd');
  const [stts, ctts] = ['stts', 'ctts'].map((type) => contentAt(trak, 'mdia', 'minf', 'stbl', type));
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
