import type { SourceReader } from '../input/source-reader.ts';
import type { VideoType } from '../media-type.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { type Track, videoTracks } from './ffprobe.ts';
import { isListedCodec } from './video-codecs.ts';
import { layOutVideo } from './video-scratch.ts';

/** The displayed size of a video: its default picture track, pixels made square, turned as its rotation says. */
export async function videoSize(
  reader: SourceReader,
  type: VideoType,
  scratchDir: string,
): Promise<Size | UnsupportedReason> {
  await using scratch = await layOutVideo(reader, type, scratchDir);
  if (scratch.outcome !== 'laid out') return scratch.outcome;
  const tracks = await videoTracks(scratch.path, type, reader.signal);
  if (typeof tracks === 'string') return tracks;
  const picture = pictureTrack(tracks);
  return typeof picture === 'string' ? picture : sizeOnScreen(picture);
}

/** The track that players show: the default one of several, else the first. A cover picture is none. */
export function pictureTrack(tracks: readonly Track[]): Track | 'no_picture' | 'codec' {
  const pictures = tracks.filter((track) => track.kind === 'video' && !track.isCover);
  const shown = pictures.find((track) => track.isDefault) ?? pictures[0];
  if (!shown) return 'no_picture';
  return isListedCodec(shown.codec) ? shown : 'codec';
}

export function sizeOnScreen(track: Track): Size {
  const width = Math.round(track.width * track.pixelAspect);
  const onItsSide = Math.abs(Math.round(track.rotation / 90)) % 2 === 1;
  return onItsSide ? { width: track.height, height: width } : { width, height: track.height };
}
