import sharp, { type Sharp } from 'sharp';

// libvips reads far more than photos (SVG, PDF, ImageMagick scripts), so only these loaders are enabled.
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((name) => `VipsForeignLoad${name}`);

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: loaders });
// No two photos are the same.
sharp.cache(false);
// A worker makes several pictures at once (measured: docs/decisions/renditions.md).
sharp.concurrency(1);

/** sharp, restricted in this process. */
export const guardedSharp = sharp;

// Like browsers, shows what can be decoded of a truncated or damaged photo. A TIFF of a printer has masks and spot colours.
const lenient = { failOn: 'none', limitInputChannels: 32 } as const;

/**
 * The first frame or page of a photo, given as a path or bytes. Fails if it has more than `maxPixels`.
 * @param options `ignoreIcc`: whether to keep the samples of the file, and not to apply its colour profile
 */
export function decodeStill(input: string | Buffer, maxPixels: number, { ignoreIcc = false } = {}): Sharp {
  return sharp(input, { ...lenient, limitInputPixels: maxPixels, pages: 1, ignoreIcc });
}

/** All frames of an animation. Fails if they have more than `maxPixels` together. */
export function decodeAnimation(input: string | Buffer, maxPixels: number): Sharp {
  return sharp(input, { ...lenient, limitInputPixels: maxPixels, animated: true });
}
