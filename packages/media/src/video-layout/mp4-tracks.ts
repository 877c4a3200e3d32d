import { inspectFile } from '../input/inspect-file.ts';
import { boxContents, maxBoxes, maxMoovBytes, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import { isFramesOnly } from './h264-parameters.ts';

/** The content of the `moov` box; undefined if there is none, or it is larger than 64 MiB. */
export async function readMoov(reader: SourceReader): Promise<Buffer | undefined> {
  for await (const { type, content, end } of topLevelBoxes(reader, maxBoxes)) {
    if (type === 'moov' && end - content <= maxMoovBytes) return reader.at(content, end - content);
  }
  return undefined;
}

/** The contents of all boxes at a path of box types. */
export function contentsAt(bytes: Buffer, ...[type, ...deeper]: readonly string[]): Buffer[] {
  if (type === undefined) return [bytes];
  return boxContents(bytes, type).flatMap((content) => contentsAt(content, ...deeper));
}

/** Whether an MP4 from ffmpeg has a video track that is not empty. True if its `moov` is too large. @throws OutputRefused */
export async function hasPictures(path: string): Promise<boolean> {
  await using video = await openToolOutput(path, 'mp4');
  const moov = await readMoov(video.reader());
  return moov === undefined || boxContents(moov, 'trak').some((trak) => isVideoTrack(trak) && sampleCount(trak) > 0);
}

function isVideoTrack(trak: Buffer): boolean {
  return contentsAt(trak, 'mdia', 'hdlr').some((hdlr) => hdlr.toString('latin1', 8, 12) === 'vide');
}

// ISO/IEC 14496-12 section 8.7.3.
function sampleCount(trak: Buffer): number {
  const [sizes] = contentsAt(trak, 'mdia', 'minf', 'stbl', 'stsz');
  return sizes && sizes.length >= 12 ? sizes.readUInt32BE(8) : 0;
}

// A full box and a count, then entries, which begin with the fields of every video codec (sections 8.5.2 and 12.1.3).
const entriesAt = 8;
const videoEntryBytes = 78;

/** Whether the parameters of the H.264 track with this index rule out interlaced pictures. */
export function isFramesOnlyTrack(path: string, track: number): Promise<boolean> {
  return inspectFile(path, async (reader) => {
    const moov = await readMoov(reader);
    const trak = moov && boxContents(moov, 'trak')[track];
    const entries = trak ? contentsAt(trak, 'mdia', 'minf', 'stbl', 'stsd') : [];
    const codings = entries.flatMap((stsd) => boxContents(stsd, 'avc1', entriesAt));
    const parameters = codings.flatMap((avc1) => boxContents(avc1, 'avcC', videoEntryBytes));
    return parameters.length === 1 && parameters.every((avcC) => isFramesOnly(avcC));
  });
}
