import { readFile } from 'node:fs/promises';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { guardedSharp } from './guarded-sharp.ts';
import { type Area, rebrandAsStill, removeCrop } from './heif-still.ts';
import { createRgbaTiff } from './rgba-tiff.ts';

/**
 * Decodes the primary picture of a HEIC to an uncompressed TIFF with its colour profile, rotated by libheif. Call it only in
 * a separate process: nothing can interrupt it (docs/decisions/016).
 */
export async function decodeHeic(path: string, maxPixels: number): Promise<Buffer | UnsupportedReason> {
  const { default: libheif } = await import('libheif-js/wasm-bundle.js');
  const file = rebrandAsStill(await readFile(path));
  const crop = removeCrop(file);
  const images = new libheif.HeifDecoder().decode(file);
  const image = images.find((each) => each.is_primary()) ?? images[0];
  if (!image) return 'broken';
  const size = { width: image.get_width(), height: image.get_height() };
  const area = crop ?? { left: 0, top: 0, ...size };
  if (!isInside(area, size)) return 'broken';
  if (size.width * size.height > maxPixels) return 'too_many_pixels';
  const { tiff, pixels } = createRgbaTiff(area, await readColourProfile(path));
  const target = { data: crop ? new Uint8ClampedArray(size.width * size.height * 4) : pixels, ...size };
  const displayed = await new Promise<unknown>((resolve) => image.display(target, resolve));
  if (displayed === null) return 'broken';
  if (crop) copyArea(target.data, size.width, pixels, crop);
  return tiff;
}

function isInside({ left, top, width, height }: Area, size: Size): boolean {
  const [right, bottom] = [left + width, top + height];
  return width >= 1 && height >= 1 && left >= 0 && top >= 0 && right <= size.width && bottom <= size.height;
}

function copyArea(from: Uint8ClampedArray, fromWidth: number, to: Uint8ClampedArray, area: Area): void {
  for (let row = 0; row < area.height; row += 1) {
    const start = ((area.top + row) * fromWidth + area.left) * 4;
    to.set(from.subarray(start, start + area.width * 4), row * area.width * 4);
  }
}

// Phones store wide colours as an ICC profile, which libheif does not apply. sharp reads it from the header.
async function readColourProfile(path: string): Promise<Buffer | undefined> {
  const header = guardedSharp()(path, { failOn: 'none', limitInputPixels: false }).metadata();
  return header.then(
    ({ icc }) => icc,
    () => undefined,
  );
}
