import { readFile } from 'node:fs/promises';
import { guardedSharp } from './guarded-sharp.ts';
import { rgbaTiff } from './rgba-tiff.ts';
import type { UnsupportedReason } from './unsupported.ts';

/**
 * The primary picture of a HEIC as an uncompressed TIFF with its colour profile, as displayed (libheif turns it). Only
 * in a process of its own: nothing can interrupt it (docs/decisions/016).
 */
export async function decodeHeic(path: string, maxPixels: number): Promise<Buffer | UnsupportedReason> {
  const { default: libheif } = await import('libheif-js/wasm-bundle.js');
  const images = new libheif.HeifDecoder().decode(await readFile(path));
  const image = images.find((each) => each.is_primary()) ?? images[0];
  if (!image) return 'broken';
  const [width, height] = [image.get_width(), image.get_height()];
  if (width < 1 || height < 1) return 'broken';
  if (width * height > maxPixels) return 'too_many_pixels';
  const { tiff, pixels } = rgbaTiff({ width, height }, await colourProfile(path));
  const shown = new Promise<unknown>((resolve) => image.display({ data: pixels, width, height }, resolve));
  return (await shown) === null ? 'broken' : tiff;
}

// Phones note their wide colours as an ICC profile, which libheif leaves to others; sharp reads it from the header.
async function colourProfile(path: string): Promise<Buffer | undefined> {
  const header = guardedSharp()(path, { failOn: 'none', limitInputPixels: false }).metadata();
  return header.then(
    ({ icc }) => icc,
    () => undefined,
  );
}
