import type { Metadata, Sharp } from 'sharp';

/** Converts a picture with this header to sRGB. sharp converts 16 bits with a profile to Display P3, which an output profile completes. */
export function toSRgb(picture: Sharp, { depth, icc }: Pick<Metadata, 'depth' | 'icc'>): Sharp {
  return depth === 'ushort' && icc ? picture.withIccProfile('srgb') : picture.toColourspace('srgb');
}
