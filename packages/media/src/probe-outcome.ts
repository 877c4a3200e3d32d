import { isPhoto, type MediaType } from './media-type.ts';
import type { Size } from './size.ts';
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

export interface MediaLimits {
  /** Width x height of a canvas, as displayed. */
  readonly maxPixels: number;
  /** Types that are refused before anything of them is read. */
  readonly typesOff?: ReadonlySet<MediaType>;
}

export function unsupported(why: UnsupportedReason): Probe {
  return { outcome: 'unsupported', why };
}

/** The probe of media whose displayed size was read, or could not be. */
export function probeOfSize(type: MediaType, size: Size | UnsupportedReason, { maxPixels }: MediaLimits): Probe {
  if (typeof size === 'string') return unsupported(size);
  const { width, height } = size;
  if (width < 1 || height < 1) return unsupported('broken');
  if (width * height > maxPixels) return unsupported('too_many_pixels');
  return { outcome: 'media', kind: isPhoto(type) ? 'photo' : 'video', type, width, height };
}
