import { contentsOf, mostBoxes, mostMoov, outerBoxes } from '../input/iso-boxes.ts';
import { lookAtFile } from '../input/local-source.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import { hasWholePicturesAlone } from './h264-parameters.ts';

/** What an MP4 says that it holds: its `moov` box; undefined where there is none of a size that can be read. */
export async function moovOf(reader: SourceReader): Promise<Buffer | undefined> {
  for await (const { type, content, end } of outerBoxes(reader, mostBoxes)) {
    if (type === 'moov' && end - content <= mostMoov) return reader.at(content, end - content);
  }
  return undefined;
}

/** The contents of all boxes at a path of types. */
export function inside(bytes: Buffer, ...[type, ...deeper]: readonly string[]): Buffer[] {
  if (type === undefined) return [bytes];
  return contentsOf(bytes, type).flatMap((content) => inside(content, ...deeper));
}

/**
 * Whether an MP4 that ffmpeg made has a track of pictures that is not empty; so one is taken to that is too long to look at.
 * @throws OutputRefused
 */
export async function hasPictures(path: string): Promise<boolean> {
  await using video = await openToolOutput(path, 'mp4');
  const moov = await moovOf(video.reader());
  return moov === undefined || contentsOf(moov, 'trak').some((trak) => isOfPictures(trak) && samplesIn(trak) > 0);
}

function isOfPictures(trak: Buffer): boolean {
  return inside(trak, 'mdia', 'hdlr').some((hdlr) => hdlr.toString('latin1', 8, 12) === 'vide');
}

// ISO/IEC 14496-12 section 8.7.3.
function samplesIn(trak: Buffer): number {
  const [sizes] = inside(trak, 'mdia', 'minf', 'stbl', 'stsz');
  return sizes && sizes.length >= 12 ? sizes.readUInt32BE(8) : 0;
}

// A full box and a count, then an entry with its header and what each kind of picture has (sections 8.5.2 and 12.1.3).
const entriesAt = 8;
const pictureEntry = 78;

/** Whether the H.264 track at a place of an MP4 says that all its pictures are whole, none of them two fields. */
export function saysWholePictures(path: string, track: number): Promise<boolean> {
  return lookAtFile(path, async (reader) => {
    const moov = await moovOf(reader);
    const trak = moov && contentsOf(moov, 'trak')[track];
    const entries = trak ? inside(trak, 'mdia', 'minf', 'stbl', 'stsd') : [];
    const codings = entries.flatMap((stsd) => contentsOf(stsd, 'avc1', entriesAt));
    const parameters = codings.flatMap((avc1) => contentsOf(avc1, 'avcC', pictureEntry));
    return parameters.length === 1 && parameters.every((avcC) => hasWholePicturesAlone(avcC));
  });
}
