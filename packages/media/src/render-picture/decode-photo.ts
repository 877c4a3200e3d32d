import { open, readFile } from 'node:fs/promises';
import type { Metadata, Sharp } from 'sharp';
import { inspectFile } from '../input/inspect-file.ts';
import type { MediaType } from '../media-type.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import { heicExifOrientation } from '../photo-size/heif-size.ts';
import { orientSize } from '../photo-size/orientation.ts';
import { pngOrientation } from '../photo-size/png-size.ts';
import { decodeHeic } from './decode-heic.ts';
import { decodeStill } from './guarded-sharp.ts';
import { rebrandAsStill } from './heif-still.ts';
import type { SourceCoding } from './picture-coding.ts';
import type { PictureJob } from './picture-job.ts';
import { decodedSize } from './picture-sizes.ts';
import { PixelSizes, toPixels, toSharp } from './pixel-sizes.ts';
import { keepPixelChunks } from './png-pixels.ts';

/** The pixels of a photo, decoded once, and what its file says about them. */
export interface DecodedPhoto {
  /** What sharp reads: a path or bytes. */
  readonly input: string | Buffer;
  readonly sizes: PixelSizes;
  readonly header: Metadata;
  readonly coding: SourceCoding;
}

interface DecodeOptions {
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Whether the whole picture is needed; if not, JPEG and WebP are decoded at a smaller size. */
  readonly isWhole: boolean;
}

/** @throws if the file cannot be read */
export async function decodePhoto(
  { path, type, whole }: PictureJob['source'],
  { maxPixels, isWhole }: DecodeOptions,
): Promise<DecodedPhoto | UnsupportedReason> {
  const photo = await sharpInput(path, type, maxPixels);
  if ('why' in photo) return photo.why;
  const { input } = photo;
  const orientation = await orientationUnknownToDecoder(path, type);
  try {
    const header = await decodeStill(input, maxPixels).metadata();
    if (!hasKnownSampleRange(header)) return 'broken';
    const size = whole ?? header.autoOrient;
    const { width, height } = isWhole ? size : decodedSize(size);
    const picture = decodeStill(input, maxPixels).autoOrient().resize(width, height, { fit: 'fill' });
    const pixels = await toPixels(picture.toColourspace('srgb'));
    const upright = orientation === undefined ? pixels : await toPixels(applyOrientation(toSharp(pixels), orientation));
    const isLossless = type === 'webp' && (await isLosslessWebp(path));
    const coding = { chromaSubsampling: header.chromaSubsampling, isLossless };
    return { input, sizes: new PixelSizes(upright, orientSize(size, orientation)), header, coding };
  } catch (error) {
    return reasonFor(error as Error);
  }
}

/** Why libvips did not decode or make a picture. */
export function reasonFor({ message }: Error): UnsupportedReason {
  return message.includes('pixel limit') ? 'too_many_pixels' : 'broken';
}

async function sharpInput(
  path: string,
  type: MediaType,
  maxPixels: number,
): Promise<{ readonly input: string | Buffer } | { readonly why: UnsupportedReason }> {
  switch (type) {
    case 'heic': {
      const tiff = await decodeHeic(path, maxPixels);
      return typeof tiff === 'string' ? { why: tiff } : { input: tiff };
    }
    case 'avif':
      return { input: rebrandAsStill(await readFile(path)) };
    case 'png':
      return { input: keepPixelChunks(await readFile(path)) };
    default:
      return { input: path };
  }
}

// 1 to 8. sharp gets the pixels of a PNG without its EXIF, and libheif ignores that of a HEIC.
async function orientationUnknownToDecoder(path: string, type: MediaType): Promise<number | undefined> {
  if (type === 'png') return inspectFile(path, pngOrientation);
  if (type === 'heic') return inspectFile(path, heicExifOrientation);
  return undefined;
}

// TIFFs of instruments (microscopes, height scanners) have samples of 32 bits or with a sign, which libvips takes for colours.
function hasKnownSampleRange({ depth, space }: Metadata): boolean {
  return ['uchar', 'ushort'].includes(depth) || ['scrgb', 'lab', 'labs', 'xyz'].includes(space);
}

// EXIF 2.32 table 6. sharp mirrors before it rotates, clockwise.
function applyOrientation(picture: Sharp, orientation: number): Sharp {
  switch (orientation) {
    case 2:
      return picture.flop();
    case 3:
      return picture.rotate(180);
    case 4:
      return picture.flip();
    case 5:
      return picture.flop().rotate(270);
    case 6:
      return picture.rotate(90);
    case 7:
      return picture.flop().rotate(90);
    case 8:
      return picture.rotate(270);
    default:
      return picture;
  }
}

const maxWebpChunks = 64;
const riffHeaderBytes = 12;
const chunkHeaderBytes = 8;
// An animation's first frame follows its position and duration.
const frameHeaderBytes = 16;

/** Whether the first picture of a WebP is losslessly coded (RFC 9649 section 2). */
async function isLosslessWebp(path: string): Promise<boolean> {
  await using file = await open(path);
  const header = Buffer.alloc(chunkHeaderBytes);
  for (let n = 0, at = riffHeaderBytes; n < maxWebpChunks; n += 1) {
    const { bytesRead } = await file.read(header, 0, chunkHeaderBytes, at);
    const type = header.toString('latin1', 0, 4);
    if (bytesRead < chunkHeaderBytes || type === 'VP8 ') return false;
    if (type === 'VP8L') return true;
    const length = header.readUInt32LE(4);
    at += chunkHeaderBytes + (type === 'ANMF' ? frameHeaderBytes : length + (length % 2));
  }
  return false;
}
