/** The width and height of a rendition, from its recipe (`rendition-recipes.ts`) and the size of the media. */
import { isPhoto, type MediaType } from './detect-media-type.ts';
import { type PictureRecipe, pictureRecipes } from './rendition-recipes.ts';
import { fitWithin, roundSize, type Size } from './size.ts';

const fullHd = { longest: 1920, shortest: 1080 };
const poster = { longest: 1920, shortest: 1920 };

/** The longest side per type in pixels. The AVIF encoder takes 35 bytes of memory per pixel. */
export const maxSides = { jpg: 65_500, png: 1_000_000, gif: 65_535, webp: 16_383, avif: 8192 };

/** The size of a transcoded video, at most 1080p; a copied one keeps its size. */
export function videoSize(displayed: Size): Size {
  const { width, height } = fitWithin(displayed, fullHd);
  // H.264 in 4:2:0 requires even sides.
  const [evenWidth = 2, evenHeight = 2] = [width, height].map((side) => Math.max(2, Math.round(side / 2) * 2));
  return { width: evenWidth, height: evenHeight };
}

/** The size of the frame from which the pictures of a video are made. */
export function posterSize(displayed: Size): Size {
  return roundSize(fitWithin(displayed, poster));
}

/** The size of the picture that a recipe makes of media with this type and displayed size. */
export function pictureSize(recipe: PictureRecipe, media: Size & { readonly type: MediaType }): Size {
  if (recipe.size !== 'whole' && 'crop' in recipe.size) return { width: recipe.size.crop, height: recipe.size.crop };
  const source = isPhoto(media.type) ? media : posterSize(media);
  const longest = recipe.size === 'whole' ? maxSides[recipe.extension] : recipe.size.longest;
  return roundSize(fitWithin(source, { longest, shortest: longest }));
}

const sizes = Object.values(pictureRecipes).map(({ size }) => size);
/** The sides of all pictures but the whole one, the largest first. */
export const longestSides = largestFirst(sizes.flatMap((size) => ('longest' in size ? [size.longest] : [])));
export const crops = largestFirst(sizes.flatMap((size) => ('crop' in size ? [size.crop] : [])));
const [largestSide = 0, largestCrop = 0] = [longestSides[0], crops[0]];

/**
 * The size at which a picture must be decoded for all recipes but the whole picture: never enlarged, and with a shorter
 * side that fills a crop.
 */
export function decodedSize(whole: Size): Size {
  const longest = Math.max(whole.width, whole.height);
  const shortest = Math.min(whole.width, whole.height);
  const scale = Math.min(1, Math.max(largestSide / longest, largestCrop / shortest));
  return roundSize({ width: whole.width * scale, height: whole.height * scale });
}

function largestFirst(sides: readonly number[]): number[] {
  return [...new Set(sides)].sort((a, b) => b - a);
}
