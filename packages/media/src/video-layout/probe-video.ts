import type { VideoType } from '../detect-media-type.ts';
import type { SourceReader } from '../input/source-reader.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { type Track, videoTracks } from './ffprobe.ts';
import { createSparseCopy } from './sparse-copy.ts';
import { isListedCodec } from './video-codecs.ts';

/** The displayed size of a video's default picture track, with square pixels and rotation applied. */
export async function videoSize(
  reader: SourceReader,
  type: VideoType,
  scratchDir: string,
): Promise<Size | UnsupportedReason> {
  await using copy = await createSparseCopy(reader, type, scratchDir);
  if (copy.outcome !== 'copied') return copy.outcome;
  const tracks = await videoTracks(copy.path, type, reader.signal);
  if (typeof tracks === 'string') return tracks;
  const picture = pictureTrack(tracks);
  return typeof picture === 'string' ? picture : displayedSize(picture);
}

/** The track that players show: the default video track, else the first. Covers do not count. */
export function pictureTrack(tracks: readonly Track[]): Track | 'no_picture' | 'codec' {
  const pictures = tracks.filter((track) => track.kind === 'video' && !track.isCover);
  const shown = pictures.find((track) => track.isDefault) ?? pictures[0];
  if (!shown) return 'no_picture';
  return isListedCodec(shown.codec) ? shown : 'codec';
}

export function displayedSize(track: Track): Size {
  const width = Math.round(track.width * track.pixelAspect);
  const isSideways = Math.abs(Math.round(track.rotation / 90)) % 2 === 1;
  return isSideways ? { width: track.height, height: width } : { width, height: track.height };
}
