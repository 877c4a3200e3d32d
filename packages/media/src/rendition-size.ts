import { isPhoto, type MediaType } from './media-type.ts';
import type { PictureRecipe } from './recipes.ts';
import { fitWithin, roundSize, roundToEvenSize, type Size } from './size.ts';

const fullHd = { longest: 1920, shortest: 1080 };
const poster = { longest: 1920, shortest: 1920 };

/** The longest side per type in pixels. The AVIF encoder takes 35 bytes of memory per pixel. */
export const maxSides = { jpg: 65_500, png: 1_000_000, gif: 65_535, webp: 16_383, avif: 8192 };

/** The size of a transcoded video, at most 1080p; a copied one keeps its size. */
export function videoSize(displayed: Size): Size {
  return roundToEvenSize(fitWithin(displayed, fullHd));
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
