import { isPhoto, type MediaType } from './media-type.ts';
import type { Size } from './size.ts';
import type { UnsupportedReason } from './unsupported.ts';

/** The type and displayed size of media in pixels, or why it is not accepted. */
export type Probe =
  | {
      readonly outcome: 'media';
      readonly kind: 'photo' | 'video';
      readonly type: MediaType;
      readonly width: number;
      readonly height: number;
    }
  | { readonly outcome: 'unsupported'; readonly why: UnsupportedReason };

export interface MediaLimits {
  /** Width x height of a canvas, as displayed. */
  readonly maxPixels: number;
  /** Types that are refused without a read. */
  readonly typesOff?: ReadonlySet<MediaType>;
}

export function unsupported(why: UnsupportedReason): Probe {
  return { outcome: 'unsupported', why };
}

/** The probe result for a displayed size, or for the reason that there is none. */
export function toProbe(type: MediaType, size: Size | UnsupportedReason, { maxPixels }: MediaLimits): Probe {
  if (typeof size === 'string') return unsupported(size);
  const { width, height } = size;
  if (width < 1 || height < 1) return unsupported('broken');
  if (width * height > maxPixels) return unsupported('too_many_pixels');
  return { outcome: 'media', kind: isPhoto(type) ? 'photo' : 'video', type, width, height };
}
