import { isPhoto, type MediaType } from './media-type.ts';
import type { PictureRecipe } from './recipes.ts';
import { fitWithin, roundSize, roundToEvenSize, type Size } from './size.ts';

const fullHd = { longest: 1920, shortest: 1080 };
const poster = { longest: 1920, shortest: 1920 };

/** What a format can hold; AVIF's encoder takes 35 bytes of memory for each pixel. */
export const longestSideOf = { jpeg: 65_500, png: 1_000_000, gif: 65_535, webp: 16_383, avif: 8192 };

/** How large the video is that is coded anew from one of this displayed size: at most 1080p. One that is copied keeps its own. */
export function videoSize(displayed: Size): Size {
  return roundToEvenSize(fitWithin(displayed, fullHd));
}

/** How large the still is from which the pictures of a video of this displayed size are made. */
export function posterSize(displayed: Size): Size {
  return roundSize(fitWithin(displayed, poster));
}

/** How large a picture is that a recipe makes of media of this type and displayed size, in pixels. */
export function pictureSize(recipe: PictureRecipe, media: Size & { readonly type: MediaType }): Size {
  if (recipe.size !== 'whole' && 'crop' in recipe.size) return { width: recipe.size.crop, height: recipe.size.crop };
  const source = isPhoto(media.type) ? media : posterSize(media);
  const longest = recipe.size === 'whole' ? longestSideOf[recipe.format] : recipe.size.longest;
  return roundSize(fitWithin(source, { longest, shortest: longest }));
}
