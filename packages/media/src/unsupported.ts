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
