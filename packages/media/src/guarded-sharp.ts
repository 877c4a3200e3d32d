import sharp, { type Sharp } from 'sharp';
import type { Size } from './unsupported.ts';

// libvips can read far more than photos (SVG, PDF, scripts of ImageMagick): all is closed, then what we take is
// opened, one by one.
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((name) => `VipsForeignLoad${name}`);

let guarded = false;

/**
 * sharp, with this process's settings made before it is first used. No cache: no two photos are the same, so it would
 * only hold memory and open files. One thread for each photo: a worker has several at once, and more threads would
 * only take them from one another.
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

/**
 * The displayed size that the first bytes of a JPEG or PNG tell, by their header alone; undefined where they do not.
 */
export async function displayedSize(firstBytes: Buffer): Promise<Size | undefined> {
  try {
    const photo = guardedSharp()(firstBytes, { failOn: 'none', limitInputPixels: false });
    const { autoOrient } = await photo.metadata();
    return { width: autoOrient.width, height: autoOrient.height };
  } catch {
    return undefined;
  }
}

/** A photo about to be decoded: the first frame or page of it, at most `maxPixels`; one that is cut off fails. */
export function decodePhoto(path: string, maxPixels: number): Sharp {
  return guardedSharp()(path, { failOn: 'truncated', limitInputPixels: maxPixels, pages: 1 });
}
