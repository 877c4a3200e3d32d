/** Why media is not taken, or why no rendition of it can be made: for logs and labels, a closed set. */
export const unsupportedReasons = [
  /** The first bytes are none of the types that are let in. */
  'unknown_type',
  /** The type is let in elsewhere, but turned off here. */
  'type_off',
  /** They are, but what follows is cut off, contradicts itself, or cannot be read: whatever reads it fails, or runs out of memory. */
  'broken',
  /** A video without a video: sound alone, with or without a cover. */
  'no_picture',
  /** Its pictures are coded in a way that is not on the list of codecs, or that nothing here decodes. */
  'codec',
  /** The canvas is larger than MAX_PIXELS. */
  'too_many_pixels',
  /** Reading it would take more bytes, time or output than any honest file needs, or killed two workers. */
  'too_costly',
] as const;

export type UnsupportedReason = (typeof unsupportedReasons)[number];
