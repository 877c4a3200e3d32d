import { isPhoto, type PhotoType, type VideoType } from '../detect-media-type.ts';
import type { SourceReader } from '../input/source-reader.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { type Track, videoTracks } from './ffprobe.ts';
import { createSparseCopy } from './sparse-copy.ts';
import { isListedCodec } from './video-codecs.ts';

/** A photo as a local file. */
interface LocalPhoto {
  readonly path: string;
  readonly type: PhotoType;
}

/** A video as a local file, and what players show and play of it. */
export interface LocalVideo {
  readonly path: string;
  readonly type: VideoType;
  /** The default video track, else the first. Covers do not count. */
  readonly picture: Track;
  readonly sounds: readonly Track[];
}

export type LocalMedia = LocalPhoto | LocalVideo;

/** Reads the tracks of the video at `path`, or why it cannot be shown. @throws as videoTracks does */
export async function readVideo(
  path: string,
  type: VideoType,
  signal: AbortSignal,
): Promise<LocalVideo | UnsupportedReason> {
  const tracks = await videoTracks(path, type, signal);
  if (typeof tracks === 'string') return tracks;
  const pictures = tracks.filter((track) => track.kind === 'video' && !track.isCover);
  const picture = pictures.find((track) => track.isDefault) ?? pictures[0];
  if (!picture) return 'no_picture';
  if (!isListedCodec(picture.codec)) return 'codec';
  return { path, type, picture, sounds: tracks.filter((track) => track.kind === 'sound') };
}

export function isVideo(media: LocalMedia): media is LocalVideo {
  return !isPhoto(media.type);
}

/** Finds the displayed size of a video. */
export async function probeVideo(
  reader: SourceReader,
  type: VideoType,
  scratchDir: string,
): Promise<Size | UnsupportedReason> {
  await using copy = await createSparseCopy(reader, type, scratchDir);
  if (copy.outcome !== 'copied') return copy.outcome;
  const video = await readVideo(copy.path, type, reader.signal);
  return typeof video === 'string' ? video : displayedSize(video.picture);
}

/** The size of a track with square pixels and rotation applied. */
export function displayedSize(track: Track): Size {
  const width = Math.round(track.width * track.pixelAspect);
  const isSideways = Math.abs(Math.round(track.rotation / 90)) % 2 === 1;
  return isSideways ? { width: track.height, height: width } : { width, height: track.height };
}
