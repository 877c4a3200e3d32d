import { boxContents, contentAt, handlerType, readMoov } from '../input/iso-boxes.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';

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
  const sizes = contentAt(trak, 'mdia', 'minf', 'stbl', 'stsz');
  return sizes && sizes.length >= 12 ? sizes.readUInt32BE(8) : 0;
}
