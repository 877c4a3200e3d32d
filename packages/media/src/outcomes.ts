import { isPhoto, type MediaType } from './detect-media-type.ts';
import type { Size } from './size.ts';

/** Why media is not accepted, or has no rendition. A closed set, for logs and labels. */
export const unsupportedReasons = [
  /** The first bytes match no accepted type. */
  'unknown_type',
  /** The type is turned off (MEDIA_TYPES_OFF). */
  'type_off',
  /** Truncated, contradictory or unreadable: its reader fails or runs out of memory. */
  'broken',
  /** A video without a picture track: sound alone, with or without a cover. */
  'no_picture',
  /** The codec of its pictures is not accepted, or nothing here decodes it. */
  'codec',
  /** The canvas is larger than MAX_PIXELS. */
  'too_many_pixels',
  /** Reading it takes more bytes, time or output than any honest file, or killed two workers. */
  'too_costly',
] as const;

export type UnsupportedReason = (typeof unsupportedReasons)[number];

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

export function unsupported<R extends RenditionReason>(why: R) {
  return { outcome: 'unsupported', why } as const;
}

/** A displayed size. */
export interface ReadSize extends Size {
  /** Why nothing here shows it nevertheless. */
  readonly obstacle?: UnsupportedReason | undefined;
}

/** The probe result for a displayed size, or for the reason that there is none. */
export function toProbe(type: MediaType, size: ReadSize | UnsupportedReason, { maxPixels }: MediaLimits): Probe {
  if (typeof size === 'string') return unsupported(size);
  const { width, height, obstacle } = size;
  if (width < 1 || height < 1) return unsupported('broken');
  if (width * height > maxPixels) return unsupported('too_many_pixels');
  if (obstacle) return unsupported(obstacle);
  return { outcome: 'media', kind: isPhoto(type) ? 'photo' : 'video', type, width, height };
}

/** Why a rendition was not made. `timed_out`: rendering took too long, or the machine was busy. */
export type RenditionReason = UnsupportedReason | 'timed_out';

/** `unsupported`: no rendition can be made of these bytes. A retry gives the same result, except after `timed_out`. */
export type Rendered =
  | { readonly outcome: 'made' }
  | { readonly outcome: 'unsupported'; readonly why: RenditionReason };

type Result = { readonly outcome: 'media' | 'made' } | { readonly outcome: 'unsupported'; readonly why: string };

/** The result as fields of logs and metrics. Replies say `media`, `made` and `why`, which other releases read. */
export function resultFields(result: Result) {
  if (result.outcome === 'unsupported') return { outcome: result.outcome, cause: result.why };
  return result.outcome === 'made' ? { outcome: 'created' } : { ...result, outcome: 'supported' };
}
