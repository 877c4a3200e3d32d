import sharp, { type Sharp } from 'sharp';

// libvips can read far more than photos (SVG, PDF, scripts of ImageMagick): all is closed, then what we take is
// opened, one by one.
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((name) => `VipsForeignLoad${name}`);

let guarded = false;

/**
 * sharp, with this process's settings made before it is first used. No cache: no two photos are the same, so it would
 * only hold memory and open files. One thread for each photo: a worker has several at once, and more threads would
 * only take them from one another (measured: docs/decisions/016).
 */
export function guardedSharp(): typeof sharp {
  if (!guarded) {
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: loaders });
    sharp.cache(false);
    sharp.concurrency(1);
    guarded = true;
  }
  return sharp;
}

// What is there of a photo that is cut off or damaged is shown, as browsers do.
const lenient = { failOn: 'none' } as const;

/** A path or bytes. */
export interface Decodable {
  readonly input: string | Buffer;
  /** The frame with which it begins, where that is not the first: of a HEIF the primary picture need not be that. */
  readonly page?: number;
}

/** A photo about to be decoded: its first frame or page, at most `maxPixels`. */
export function decodePhoto({ input, page }: Decodable, maxPixels: number): Sharp {
  return guardedSharp()(input, { ...lenient, limitInputPixels: maxPixels, page, pages: 1 });
}

/** An animation about to be decoded, all of its frames: at most `maxPixels` together. */
export function decodeAnimation({ input, page }: Decodable, maxPixels: number): Sharp {
  return guardedSharp()(input, { ...lenient, limitInputPixels: maxPixels, page, animated: true });
}
