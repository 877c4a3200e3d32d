import { writeFile } from 'node:fs/promises';
import type { Metadata, OutputInfo, Sharp } from 'sharp';
import { decodeAnimation, decodePhoto, guardedSharp } from './guarded-sharp.ts';
import { encode, type SourceCoding } from './picture-coding.ts';
import type { PictureJob, PictureJobEnd } from './picture-job.ts';
import type { PictureRecipe } from './recipes.ts';
import { decodeHeic } from './render-heic.ts';
import { undecodedOrientation } from './undecoded-orientation.ts';
import type { UnsupportedReason } from './unsupported.ts';
import { isLosslessWebp } from './webp-lossless.ts';

/** Decoded once: upright, sRGB, 8 bits a channel, and what there is to know of the file it came from. */
interface Decoded {
  readonly pixels: Buffer;
  readonly raw: OutputInfo;
  readonly header: Metadata;
  readonly coding: SourceCoding;
}

// All frames of an animation together may be that many canvases of the largest size; of a longer one the first frame
// is shown.
const mostCanvases = 2;

/**
 * Makes all pictures of a job from one decoding of its source, each written to its path. Rejects where a file cannot be
 * read or written.
 */
export async function drawPictures({ source, pictures, maxPixels }: PictureJob): Promise<PictureJobEnd> {
  const decoded = await decode(source, maxPixels);
  if (typeof decoded === 'string') return { outcome: 'unsupported', why: decoded };
  for (const { recipe, path } of pictures) {
    const animation = recipe.size === 'whole' ? animationOf(source.path, decoded, recipe, maxPixels) : undefined;
    const bytes = await (animation ?? draw(decoded, recipe)).toBuffer().catch(reasonOf);
    if (typeof bytes === 'string') return { outcome: 'unsupported', why: bytes };
    await writeFile(path, bytes);
  }
  return { outcome: 'made' };
}

async function decode({ path, type }: PictureJob['source'], maxPixels: number): Promise<Decoded | UnsupportedReason> {
  const orientation = await undecodedOrientation(path, type);
  if (type !== 'heic') return decodeOnce(path, orientation, maxPixels).catch(reasonOf);
  const photo = await decodeHeic(path, maxPixels);
  return typeof photo === 'string' ? photo : decodeOnce(photo, orientation, maxPixels).catch(reasonOf);
}

async function decodeOnce(
  photo: string | Buffer,
  orientation: number | undefined,
  maxPixels: number,
): Promise<Decoded> {
  const header = await decodePhoto(photo, maxPixels).metadata();
  const upright = stoodUp(decodePhoto(photo, maxPixels).autoOrient(), orientation).toColourspace('srgb');
  const { data, info } = await upright.raw().toBuffer({ resolveWithObject: true });
  const isLossless = header.format === 'webp' && typeof photo === 'string' && (await isLosslessWebp(photo));
  return { pixels: data, raw: info, header, coding: { chromaSubsampling: header.chromaSubsampling, isLossless } };
}

// EXIF 2.32 table 6. sharp mirrors before it turns, clockwise.
function stoodUp(picture: Sharp, orientation: number | undefined): Sharp {
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

function draw({ pixels, raw, coding }: Decoded, recipe: PictureRecipe): Sharp {
  return encode(sized(guardedSharp()(pixels, { raw, limitInputPixels: false }), recipe), recipe, coding);
}

// Attention looks for what is bright, colourful or skin: of a tall photo of a person the middle is the belt.
function sized(picture: Sharp, { size, format }: PictureRecipe): Sharp {
  if (size === 'whole') return picture.resize(longestSideOf[format], longestSideOf[format], shrink);
  if ('crop' in size) return picture.resize(size.crop, size.crop, { fit: 'cover', position: 'attention' });
  return picture.resize(size.longest, size.longest, shrink);
}

const shrink = { fit: 'inside', withoutEnlargement: true } as const;

// What a format can hold; AVIF's encoder takes 35 bytes of memory for each pixel.
const longestSideOf = { jpeg: 65_500, png: 1_000_000, gif: 65_535, webp: 16_383, avif: 8192 };

// An animation's frames are drawn anew from the file. One that lies on its side cannot be turned (sharp 0.35).
function animationOf(path: string, { header, coding }: Decoded, recipe: PictureRecipe, maxPixels: number) {
  const { format, width, height, pages = 1, orientation = 1 } = header;
  const isKept = format === recipe.format && (format === 'gif' || format === 'webp') && orientation === 1;
  const mostPixels = mostCanvases * maxPixels;
  if (!isKept || pages === 1 || width * height * pages > mostPixels) return undefined;
  return encode(decodeAnimation(path, mostPixels).toColourspace('srgb'), recipe, coding);
}

function reasonOf(error: Error): UnsupportedReason {
  return error.message.includes('pixel limit') ? 'too_many_pixels' : 'broken';
}
