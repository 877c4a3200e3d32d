import { inspectFile } from '../input/inspect-file.ts';
import { readMoov } from '../input/iso-boxes.ts';
import { isoTracks } from './iso-tracks.ts';
import type { LocalVideo } from './read-video.ts';
import { isoTypes } from './video-codecs.ts';

/**
 * Whether parts of a video track have their own sample descriptions (ISO/IEC 14496-12 section 8.5.2), as after joining files
 * without transcoding. A copy keeps the first, which decodes the other parts wrongly.
 */
export async function hasSeveralDescriptions({ path, type, picture }: LocalVideo): Promise<boolean> {
  if (!isoTypes.includes(type)) return false;
  const moov = await inspectFile(path, readMoov);
  const descriptions = moov && isoTracks(moov)[picture.index]?.descriptions;
  return descriptions !== undefined && descriptions.length >= 8 && descriptions.readUInt32BE(4) > 1;
}
