import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Metadata, OutputInfo, Sharp } from 'sharp';
import { clearWhatIsDisposedOf } from './gif-disposal.ts';
import { onClearGround } from './gif-ground.ts';
import { type Decodable, decodeAnimation, decodePhoto, guardedSharp } from './guarded-sharp.ts';
import { brandedAsStill } from './heif-still.ts';
import type { MediaType } from './media-type.ts';
import { middleOf } from './middle.ts';
import { encode, type SourceCoding } from './picture-coding.ts';
import type { PictureJob, PictureJobEnd, PictureToMake } from './picture-job.ts';
import { pixelsOnly } from './png-pixels.ts';
import type { PictureRecipe } from './recipes.ts';
import { decodeHeic } from './render-heic.ts';
import { longestSideOf } from './rendition-size.ts';
import { undecodedOrientation } from './undecoded-orientation.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';
import { isLosslessWebp } from './webp-lossless.ts';

/** Decoded once: upright, sRGB, 8 bits a channel, and what there is to know of the file it came from. */
interface Decoded {
  readonly photo: Decodable;
  readonly pixels: Buffer;
  readonly raw: OutputInfo;
  readonly header: Metadata;
  readonly coding: SourceCoding;
}

// All frames of an animation together may be that many canvases of the largest size; of a longer one the first frame
// is shown.
const mostCanvases = 2;

/**
 * Makes the pictures of a job from one decoding of its source, the whole one last: it may be an animation, and costs
 * most. What cannot be drawn keeps no other from being drawn; `unsupported` where any is missing. What lies at a
 * picture's path is all of it, even if this process is killed. Rejects where a file cannot be read or written.
 */
export async function drawPictures({ source, pictures, maxPixels }: PictureJob): Promise<PictureJobEnd> {
  const decoded = await decode(source, maxPixels);
  if (typeof decoded === 'string') return { outcome: 'unsupported', why: decoded };
  let why: UnsupportedReason | undefined;
  for (const { recipe, path } of wholeOnesLast(pictures)) {
    const picture = await draw(decoded, recipe, maxPixels);
    if (typeof picture === 'string') why ??= picture;
    else await writeAtOnce(path, picture);
  }
  return why ? { outcome: 'unsupported', why } : { outcome: 'made' };
}

function wholeOnesLast(pictures: readonly PictureToMake[]): PictureToMake[] {
  const isWhole = ({ recipe }: PictureToMake) => Number(recipe.size === 'whole');
  return pictures.toSorted((one, other) => isWhole(one) - isWhole(other));
}

async function writeAtOnce(path: string, picture: Buffer): Promise<void> {
  await writeFile(`${path}.part`, picture);
  await rename(`${path}.part`, path);
}

async function decode({ path, type }: PictureJob['source'], maxPixels: number): Promise<Decoded | UnsupportedReason> {
  const photo = await decodable(path, type, maxPixels);
  if (typeof photo === 'string') return photo;
  const orientation = await undecodedOrientation(path, type);
  return decodeOnce(photo, orientation, maxPixels).catch(reasonOf);
}

async function decodable(path: string, type: MediaType, maxPixels: number): Promise<Decodable | UnsupportedReason> {
  switch (type) {
    case 'heic': {
      const tiff = await decodeHeic(path, maxPixels);
      return typeof tiff === 'string' ? tiff : { input: tiff };
    }
    case 'avif':
      return { input: brandedAsStill(await readFile(path)) };
    case 'png':
      return { input: pixelsOnly(await readFile(path)) };
    case 'gif': {
      const original = await readFile(path);
      clearWhatIsDisposedOf(original);
      const { gif, framesAdded } = onClearGround(original);
      return framesAdded > 0 ? { input: gif, page: framesAdded } : { input: gif };
    }
    default:
      return { input: path };
  }
}

async function decodeOnce(photo: Decodable, orientation: number | undefined, maxPixels: number): Promise<Decoded> {
  const header = await decodePhoto(photo, maxPixels).metadata();
  if (!hasUsualSamples(header)) throw new Error('samples whose range is not known');
  const upright = stoodUp(decodePhoto(photo, maxPixels).autoOrient(), orientation).toColourspace('srgb');
  const { data, info } = await upright.raw().toBuffer({ resolveWithObject: true });
  const { input } = photo;
  const isLossless = header.format === 'webp' && typeof input === 'string' && (await isLosslessWebp(input));
  const coding = { chromaSubsampling: header.chromaSubsampling, isLossless };
  return { photo, pixels: data, raw: info, header, coding };
}

// What measures (microscopes, scanners of heights) writes TIFFs with samples of 32 bits, or with a sign: libvips takes their numbers for colours.
function hasUsualSamples({ depth, space }: Metadata): boolean {
  return ['uchar', 'ushort'].includes(depth) || ['scrgb', 'lab', 'labs', 'xyz'].includes(space);
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

async function draw(decoded: Decoded, recipe: PictureRecipe, maxPixels: number): Promise<Buffer | UnsupportedReason> {
  const animation = recipe.size === 'whole' ? animationOf(decoded, recipe, maxPixels) : undefined;
  // Of an animation with a broken frame the first one is better than nothing.
  const moving = await animation?.toBuffer().catch(() => undefined);
  return moving ?? still(decoded, recipe).toBuffer().catch(reasonOf);
}

function still({ pixels, raw, coding }: Decoded, recipe: PictureRecipe): Sharp {
  const picture = guardedSharp()(pixels, { raw, limitInputPixels: false });
  return encode(sized(picture, raw, recipe), recipe, coding);
}

// Attention looks for what is bright, colourful or skin: of a tall photo of a person the middle is the belt.
function sized(picture: Sharp, raw: Size, { size, format }: PictureRecipe): Sharp {
  if (size === 'whole') return picture.resize(longestSideOf[format], longestSideOf[format], shrink);
  if ('crop' in size) {
    const attention = { fit: 'cover', position: 'attention' } as const;
    return picture.extract(middleOf(raw)).resize(size.crop, size.crop, attention);
  }
  return picture.resize(size.longest, size.longest, shrink);
}

const shrink = { fit: 'inside', withoutEnlargement: true } as const;

// An animation's frames are drawn anew from the file. One that lies on its side cannot be turned (sharp 0.35).
function animationOf({ photo, header, coding }: Decoded, recipe: PictureRecipe, maxPixels: number) {
  const { format, width, height, orientation = 1 } = header;
  const isKept = format === recipe.format && (format === 'gif' || format === 'webp') && orientation === 1;
  const { page = 0 } = photo;
  const pages = (header.pages ?? 1) - page;
  const mostPixels = mostCanvases * maxPixels;
  if (!isKept || pages === 1 || width * height * pages > mostPixels) return undefined;
  const delays = page > 0 ? header.delay?.slice(page) : undefined;
  return encode(decodeAnimation(photo, mostPixels).toColourspace('srgb'), recipe, { ...coding, delays });
}

function reasonOf(error: Error): UnsupportedReason {
  return error.message.includes('pixel limit') ? 'too_many_pixels' : 'broken';
}
