import { writeFile } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { type UnsupportedReason, unsupported } from '../outcomes.ts';
import type { PictureRecipe } from '../rendition-recipes.ts';
import { maxSides } from '../rendition-size.ts';
import { type DecodedPhoto, decodePhoto, reasonFor } from './decode-photo.ts';
import { decodeAnimation } from './guarded-sharp.ts';
import { encode } from './picture-coding.ts';
import type { PictureJob, PictureToMake } from './picture-job.ts';
import type { PictureJobEnd } from './picture-process.ts';
import { toSharp } from './pixel-sizes.ts';

// All frames of an animation together may have the pixels of this many canvases of the largest size. Of a longer one only
// the first frame is shown.
const maxCanvases = 2;

/**
 * Makes the pictures of a job from one decoding of its source. The whole picture comes last: it may be an animation and
 * costs most. One that fails does not prevent the others; the result is `unsupported` if any is missing. `onComplete` gets the path of each
 * picture.
 * @throws if a file cannot be read or written
 */
export async function drawPictures(
  { source, pictures, ...limits }: PictureJob,
  onComplete: (path: string) => void,
): Promise<PictureJobEnd> {
  const decoded = await decodePhoto(source, { maxPixels: limits.maxPixels, needsWhole: pictures.some(isWhole) });
  if (typeof decoded === 'string') return unsupported(decoded);
  let why: UnsupportedReason | undefined;
  for (const { recipe, path } of pictures.toSorted((a, b) => Number(isWhole(a)) - Number(isWhole(b)))) {
    const picture = await draw(decoded, recipe, limits);
    if (typeof picture === 'string') {
      why ??= picture;
    } else {
      await writeFile(path, picture);
      onComplete(path);
    }
  }
  return why ? unsupported(why) : { outcome: 'made' };
}

function isWhole({ recipe }: PictureToMake): boolean {
  return recipe.size === 'whole';
}

type Limits = Pick<PictureJob, 'maxPixels' | 'animationPixels'>;

async function draw(decoded: DecodedPhoto, recipe: PictureRecipe, limits: Limits): Promise<Buffer | UnsupportedReason> {
  const animation = recipe.size === 'whole' ? drawAnimation(decoded, recipe, limits) : undefined;
  if (animation === 'too_costly') return animation;
  // If a frame of the animation is broken, the first frame alone is drawn.
  const animated = await animation?.toBuffer().catch(() => undefined);
  return animated ?? drawStill(decoded, recipe).catch(reasonFor);
}

async function drawStill({ sizes, coding }: DecodedPhoto, recipe: PictureRecipe): Promise<Buffer> {
  const picture = toSharp(await sizes.get(recipe.size));
  const maxSide = maxSides[recipe.extension];
  const shrink = { fit: 'inside', withoutEnlargement: true } as const;
  const shrunk = recipe.size === 'whole' ? picture.resize(maxSide, maxSide, shrink) : picture;
  return encode(shrunk, recipe, coding).toBuffer();
}

// Decodes the file again: the pixels of all frames do not fit in memory. sharp 0.35 cannot rotate an animation.
function drawAnimation(
  { input, header, coding }: DecodedPhoto,
  recipe: PictureRecipe,
  { maxPixels, animationPixels = Number.POSITIVE_INFINITY }: Limits,
): Sharp | 'too_costly' | undefined {
  const { format, width, height, pages = 1, orientation = 1 } = header;
  const canAnimate = format === recipe.extension && (format === 'gif' || format === 'webp') && orientation === 1;
  const maxFramePixels = maxCanvases * maxPixels;
  const pixels = width * height * pages;
  if (!canAnimate || pages === 1 || pixels > maxFramePixels) return undefined;
  if (pixels > animationPixels) return 'too_costly';
  return encode(decodeAnimation(input, maxFramePixels).toColourspace('srgb'), recipe, coding);
}
