import { isPhoto, type MediaType, type VideoType } from '../media-type.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import type { Track } from '../video-layout/ffprobe.ts';

/** Media as a whole file on this machine: renditions need all of its bytes. */
export interface LocalMedia {
  readonly path: string;
  readonly type: MediaType;
  /** Of a video, where somebody has looked already. */
  readonly tracks?: readonly Track[] | UnsupportedReason;
}

export type LocalVideo = LocalMedia & { readonly type: VideoType };

/** Whether `media` is a video, and no photo. */
export function isVideo(media: LocalMedia): media is LocalVideo {
  return !isPhoto(media.type);
}
