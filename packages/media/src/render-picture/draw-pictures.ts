import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Metadata, Sharp } from 'sharp';
import type { MediaType } from '../media-type.ts';
import { oriented } from '../photo-size/orientation.ts';
import type { PictureRecipe } from '../recipes.ts';
import { longestSideOf } from '../rendition-size.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { clearWhatIsDisposedOf } from './gif-disposal.ts';
import { onClearGround } from './gif-ground.ts';
import { type Decodable, decodeAnimation, decodePhoto } from './guarded-sharp.ts';
import { brandedAsStill } from './heif-still.ts';
import { encode, type SourceCoding } from './picture-coding.ts';
import type { PictureJob, PictureJobEnd, PictureToMake } from './picture-job.ts';
import { decodedSize } from './picture-sizes.ts';
import { drawn, PixelSizes, pixelsOf } from './pixel-sizes.ts';
import { pixelsOnly } from './png-pixels.ts';
import { decodeHeic } from './render-heic.ts';
import { undecodedOrientation } from './undecoded-orientation.ts';
import { isLosslessWebp } from './webp-lossless.ts';

/** Decoded once, and what there is to know of the file it came from. */
interface Decoded {
  readonly photo: Decodable;
  readonly sizes: PixelSizes;
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
export async function drawPictures({ source, pictures, ...bounds }: PictureJob): Promise<PictureJobEnd> {
  const { maxPixels } = bounds;
  const decoded = await decode(source, { maxPixels, isWhole: pictures.some(isWhole) });
  if (typeof decoded === 'string') return { outcome: 'unsupported', why: decoded };
  let why: UnsupportedReason | undefined;
  for (const { recipe, path } of wholeOnesLast(pictures)) {
    const picture = await draw(decoded, recipe, bounds);
    if (typeof picture === 'string') why ??= picture;
    else await writeAtOnce(path, picture);
  }
  return why ? { outcome: 'unsupported', why } : { outcome: 'made' };
}

function wholeOnesLast(pictures: readonly PictureToMake[]): PictureToMake[] {
  return pictures.toSorted((one, other) => Number(isWhole(one)) - Number(isWhole(other)));
}

function isWhole({ recipe }: PictureToMake): boolean {
  return recipe.size === 'whole';
}

async function writeAtOnce(path: string, picture: Buffer): Promise<void> {
  await writeFile(`${path}.part`, picture);
  await rename(`${path}.part`, path);
}

interface Decoding {
  readonly maxPixels: number;
  /** Whether the whole picture is wanted too: else a decoder that can do so (JPEG, WebP) decodes a smaller one. */
  readonly isWhole: boolean;
}

async function decode(
  { path, type, whole }: PictureJob['source'],
  decoding: Decoding,
): Promise<Decoded | UnsupportedReason> {
  const photo = await decodable(path, type, decoding.maxPixels);
  if (typeof photo === 'string') return photo;
  const orientation = await undecodedOrientation(path, type);
  return decodeOnce(photo, orientation, { ...decoding, whole }).catch(reasonOf);
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

async function decodeOnce(
  photo: Decodable,
  orientation: number | undefined,
  { maxPixels, isWhole, whole }: Decoding & { readonly whole: Size | undefined },
): Promise<Decoded> {
  const header = await decodePhoto(photo, maxPixels).metadata();
  if (!hasUsualSamples(header)) throw new Error('samples whose range is not known');
  const size = whole ?? header.autoOrient;
  const { width, height } = isWhole ? size : decodedSize(size);
  const picture = decodePhoto(photo, maxPixels).autoOrient().resize(width, height, { fit: 'fill' });
  const pixels = await pixelsOf(picture.toColourspace('srgb'));
  const upright = orientation === undefined ? pixels : await pixelsOf(stoodUp(drawn(pixels), orientation));
  const { input } = photo;
  const isLossless = header.format === 'webp' && typeof input === 'string' && (await isLosslessWebp(input));
  const coding = { chromaSubsampling: header.chromaSubsampling, isLossless };
  return { photo, sizes: new PixelSizes(upright, oriented(size, orientation)), header, coding };
}

// What measures (microscopes, scanners of heights) writes TIFFs with samples of 32 bits, or with a sign: libvips takes their numbers for colours.
function hasUsualSamples({ depth, space }: Metadata): boolean {
  return ['uchar', 'ushort'].includes(depth) || ['scrgb', 'lab', 'labs', 'xyz'].includes(space);
}

// EXIF 2.32 table 6. sharp mirrors before it turns, clockwise.
function stoodUp(picture: Sharp, orientation: number): Sharp {
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

type Bounds = Pick<PictureJob, 'maxPixels' | 'animationPixels'>;

async function draw(decoded: Decoded, recipe: PictureRecipe, bounds: Bounds): Promise<Buffer | UnsupportedReason> {
  const animation = recipe.size === 'whole' ? animationOf(decoded, recipe, bounds) : undefined;
  if (animation === 'too_costly') return animation;
  // Of an animation with a broken frame the first one is better than nothing.
  const moving = await animation?.toBuffer().catch(() => undefined);
  return moving ?? still(decoded, recipe).catch(reasonOf);
}

async function still({ sizes, coding }: Decoded, recipe: PictureRecipe): Promise<Buffer> {
  const picture = drawn(await sizes.of(recipe.size));
  const most = longestSideOf[recipe.format];
  const held = recipe.size === 'whole' ? picture.resize(most, most, shrink) : picture;
  return encode(held, recipe, coding).toBuffer();
}

const shrink = { fit: 'inside', withoutEnlargement: true } as const;

// An animation's frames are drawn anew from the file. One that lies on its side cannot be turned (sharp 0.35).
function animationOf(
  { photo, header, coding }: Decoded,
  recipe: PictureRecipe,
  { maxPixels, animationPixels = Number.POSITIVE_INFINITY }: Bounds,
): Sharp | 'too_costly' | undefined {
  const { format, width, height, orientation = 1 } = header;
  const isKept = format === recipe.format && (format === 'gif' || format === 'webp') && orientation === 1;
  const { page = 0 } = photo;
  const pages = (header.pages ?? 1) - page;
  const mostPixels = mostCanvases * maxPixels;
  const pixels = width * height * pages;
  if (!isKept || pages === 1 || pixels > mostPixels) return undefined;
  if (pixels > animationPixels) return 'too_costly';
  const delays = page > 0 ? header.delay?.slice(page) : undefined;
  return encode(decodeAnimation(photo, mostPixels).toColourspace('srgb'), recipe, { ...coding, delays });
}

function reasonOf(error: Error): UnsupportedReason {
  return error.message.includes('pixel limit') ? 'too_many_pixels' : 'broken';
}
