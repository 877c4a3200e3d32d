import type { Track } from './ffprobe.ts';
import { isPhoto, type MediaType, type VideoType } from './media-type.ts';
import type { UnsupportedReason } from './unsupported.ts';

/** Media as a whole file on this machine: renditions need all of its bytes. */
export interface LocalMedia {
  readonly path: string;
  readonly type: MediaType;
  /** Of a film, where somebody has looked already. */
  readonly tracks?: readonly Track[] | UnsupportedReason;
}

export type LocalFilm = LocalMedia & { readonly type: VideoType };

/** Whether `media` is a film, and no photo. */
export function isFilm(media: LocalMedia): media is LocalFilm {
  return !isPhoto(media.type);
}
