import type { PhotoType } from '../detect-media-type.ts';
import type { RenditionSet } from '../rendition-recipes.ts';

// Pixels that one core processes per second. Rough: only the order of magnitude matters. A JPEG is decoded at a smaller size;
// GIF and WebP are encoded too, since their whole picture is one of those for pages.
const rates: Readonly<Record<PhotoType, number>> = {
  jpg: 100e6,
  png: 30e6,
  tiff: 30e6,
  bmp: 30e6,
  avif: 20e6,
  heic: 10e6,
  webp: 10e6,
  gif: 5e6,
};
const wholeRates: Partial<Readonly<Record<PhotoType, number>>> = { png: 20e6, avif: 10e6 };
const wholeJpegRate = 50e6;

interface Photo {
  readonly type: PhotoType;
  /** Width x height of the canvas. */
  readonly pixels: number;
}

/** Estimates the seconds of CPU time to make a set of pictures. Animations cost more: their frames are not counted. */
export function photoCostSeconds({ type, pixels }: Photo, set: RenditionSet): number {
  const whole = set === 'whole' ? pixels / (wholeRates[type] ?? wholeJpegRate) : 0;
  return pixels / rates[type] + whole;
}
