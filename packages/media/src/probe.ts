import { isPhoto, type MediaType, mediaTypeOf } from './media-type.ts';
import { photoSize } from './probe-photo.ts';
import { videoSize } from './probe-video.ts';
import { type RangedSource, SourceReader } from './source-reader.ts';
import type { UnsupportedReason } from './unsupported.ts';

/** What media is: width and height in pixels, as displayed. Or why it is nothing that we take. */
export type Probe =
  | {
      readonly outcome: 'media';
      readonly kind: 'photo' | 'video';
      readonly type: MediaType;
      readonly width: number;
      readonly height: number;
    }
  | { readonly outcome: 'unsupported'; readonly why: UnsupportedReason };

export interface ProbeOptions {
  /** Where a film is laid out for ffprobe while the look lasts. */
  readonly scratchDir: string;
  /** Width x height of a canvas, as displayed. */
  readonly maxPixels: number;
  /** Types that are refused, whatever is in them, before anything of them is read. */
  readonly typesOff?: ReadonlySet<MediaType>;
  /** The caller's deadline. */
  readonly signal: AbortSignal;
}

/**
 * Finds type, width and height of media without reading more of it than it must. Whatever the bytes are, it ends in
 * bounded time and memory. Rejects only where the look itself broke down: a read failed, ffprobe is missing or did not
 * end in time, `signal` was aborted.
 */
export async function probeMedia(source: RangedSource, options: ProbeOptions): Promise<Probe> {
  const type = mediaTypeOf(source.head);
  if (!type) return unsupported('unknown_type');
  if (options.typesOff?.has(type)) return unsupported('type_off');
  const reader = new SourceReader(source, options.signal);
  const size = isPhoto(type) ? await photoSize(reader, type) : await videoSize(reader, type, options.scratchDir);
  if (typeof size === 'string') return unsupported(size);
  if (size.width < 1 || size.height < 1) return unsupported('broken');
  if (size.width * size.height > options.maxPixels) return unsupported('too_many_pixels');
  return { outcome: 'media', kind: isPhoto(type) ? 'photo' : 'video', type, width: size.width, height: size.height };
}

function unsupported(why: UnsupportedReason): Probe {
  return { outcome: 'unsupported', why };
}
