import { boxContents, contentsAt, handlerType, maxBoxes, maxMoovBytes, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';

/** The content of the `moov` box; undefined if there is none, or it is larger than 64 MiB. */
export async function readMoov(reader: SourceReader): Promise<Buffer | undefined> {
  for await (const { type, content, end } of topLevelBoxes(reader, maxBoxes)) {
    if (type === 'moov' && end - content <= maxMoovBytes) return reader.at(content, end - content);
  }
  return undefined;
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
