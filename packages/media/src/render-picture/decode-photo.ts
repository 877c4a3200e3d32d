import type { Metadata, Sharp } from 'sharp';
import { inspectFile } from '../input/inspect-file.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import { isLosslessWebp } from '../photo-size/webp-size.ts';
import { decodedSize } from '../rendition-size.ts';
import { decodeStill } from './guarded-sharp.ts';
import { openPhoto } from './open-photo.ts';
import type { SourceCoding } from './picture-coding.ts';
import type { PictureSource } from './picture-job.ts';
import { clearTransparent, PixelSizes, toPixels } from './pixel-sizes.ts';

/** The pixels of a photo, decoded once, and what its file says about them. */
export interface DecodedPhoto {
  /** What sharp reads: a path or bytes. */
  readonly input: string | Buffer;
  readonly sizes: PixelSizes;
  readonly header: Metadata;
  readonly coding: SourceCoding;
}

/** Unless the whole picture is needed, JPEG and WebP are decoded at a smaller size. @throws if the file cannot be read */
export async function decodePhoto(
  source: PictureSource,
  { maxPixels, needsWhole }: { readonly maxPixels: number; readonly needsWhole: boolean },
): Promise<DecodedPhoto | UnsupportedReason> {
  const { path, type, whole } = source;
  try {
    const photo = await openPhoto(source, maxPixels);
    if (typeof photo === 'string') return photo;
    const { input } = photo;
    const header = await decodeStill(input, maxPixels).metadata();
    if (!hasKnownSampleRange(header)) return 'broken';
    const size = whole ?? header.autoOrient;
    const { width, height } = needsWhole ? size : decodedSize(size);
    const picture = decodeStill(input, maxPixels).autoOrient().resize(width, height, { fit: 'fill' });
    const pixels = await toPixels(toSRgb(picture, header));
    clearTransparent(pixels);
    const isLossless = type === 'webp' && (await inspectFile(path, isLosslessWebp));
    const coding = { chromaSubsampling: header.chromaSubsampling, isLossless };
    return { input, sizes: new PixelSizes(pixels, size), header, coding };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) throw error;
    return reasonFor(error as Error);
  }
}

/** Why libvips did not decode or make a picture. */
export function reasonFor({ message }: Error): UnsupportedReason {
  return message.includes('pixel limit') ? 'too_many_pixels' : 'broken';
}

// sharp converts 16 bits with a profile to Display P3, which an output profile completes.
function toSRgb(picture: Sharp, { depth, icc }: Metadata): Sharp {
  return depth === 'ushort' && icc ? picture.withIccProfile('srgb') : picture.toColourspace('srgb');
}

// TIFFs of instruments (microscopes, height scanners) have samples of 32 bits or with a sign, which libvips takes for colours.
function hasKnownSampleRange({ depth, space }: Metadata): boolean {
  return ['uchar', 'ushort'].includes(depth) || ['scrgb', 'lab', 'labs', 'xyz'].includes(space);
}
