import { readFile } from 'node:fs/promises';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Area } from '../photo-size/heif-transformations.ts';
import type { Size } from '../size.ts';
import { rebrandAsStill, removeCrop } from './heif-still.ts';
import { createRawTiff, type RawPixels } from './raw-tiff.ts';

/** What libheif does not say or apply. */
type Unapplied = Pick<RawPixels, 'profile' | 'isPremultiplied' | 'orientation'>;

/**
 * Decodes the primary picture of a HEIC to an uncompressed TIFF that states `unapplied`, rotated by libheif. Call it only in
 * a separate process: nothing can interrupt it (docs/decisions/renditions.md).
 */
export async function decodeHeic(
  path: string,
  unapplied: Unapplied,
  maxPixels: number,
): Promise<Buffer | UnsupportedReason> {
  const { default: libheif } = await import('libheif-js/wasm-bundle.js');
  const file = rebrandAsStill(await readFile(path));
  const crop = removeCrop(file);
  const context = libheif.heif_context_alloc();
  libheif.heif_context_read_from_memory(context, file);
  // HeifDecoder is not used: its list lacks a primary picture that is also a thumbnail of another.
  const handle = libheif.heif_js_context_get_primary_image_handle(context);
  if ('code' in handle) return 'broken';
  const image = new libheif.HeifImage(handle);
  const size = { width: image.get_width(), height: image.get_height() };
  const area = crop ?? { left: 0, top: 0, ...size };
  if (!isInside(area, size)) return 'broken';
  if (size.width * size.height > maxPixels) return 'too_many_pixels';
  const { tiff, pixels } = createRawTiff({ ...area, channels: 4, bits: 8, ...unapplied });
  const shown = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.length);
  const target = { data: crop ? new Uint8ClampedArray(size.width * size.height * 4) : shown, ...size };
  const displayed = await new Promise<unknown>((resolve) => image.display(target, resolve));
  if (displayed === null) return 'broken';
  if (crop) copyArea(target.data, size.width, shown, crop);
  return tiff;
}

function isInside({ left, top, width, height }: Area, size: Size): boolean {
  const right = left + width;
  const bottom = top + height;
  return width >= 1 && height >= 1 && left >= 0 && top >= 0 && right <= size.width && bottom <= size.height;
}

function copyArea(from: Uint8ClampedArray, fromWidth: number, to: Uint8ClampedArray, area: Area): void {
  for (let row = 0; row < area.height; row += 1) {
    const start = ((area.top + row) * fromWidth + area.left) * 4;
    to.set(from.subarray(start, start + area.width * 4), row * area.width * 4);
  }
}
