import { isPhoto, type MediaType, type VideoType } from '../media-type.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Track } from '../video-layout/ffprobe.ts';

/** Media as a local file. */
export interface LocalMedia {
  readonly path: string;
  readonly type: MediaType;
  /** Of a video, if they were read already. */
  readonly tracks?: readonly Track[] | UnsupportedReason;
}

export type LocalVideo = LocalMedia & { readonly type: VideoType };

export function isVideo(media: LocalMedia): media is LocalVideo {
  return !isPhoto(media.type);
}
