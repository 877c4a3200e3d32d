/** Which renditions media has: names, versions, formats and nominal sizes. `rendition-size.ts` computes their pixels. */
import { isPhoto, type MediaType } from './detect-media-type.ts';

/** A public rendition of media. A recipe that makes other bytes than before needs a new version, and so a new store key. */
export interface Recipe {
  readonly name: string;
  readonly version: number;
  readonly extension: MediaType;
}

/** Types that browsers show. */
const pictureTypes = ['jpg', 'png', 'gif', 'webp', 'avif'] as const;

/** Pixels: `crop` is the side of a square, `longest` the maximum of the longer side, `whole` keeps the size. */
export type PictureSize = { readonly crop: number } | { readonly longest: number } | 'whole';

/** A picture of a photo, or a poster of a video. */
export interface PictureRecipe extends Recipe {
  readonly extension: (typeof pictureTypes)[number];
  readonly size: PictureSize;
  /** The quality of a lossy format, from 1 to 100. */
  readonly quality: number;
}

export function isPictureRecipe(recipe: Recipe): recipe is PictureRecipe {
  return 'size' in recipe;
}

/** The pictures that all media have. */
export const pictureRecipes = {
  mini: { name: 'mini', version: 4, extension: 'jpg', size: { crop: 75 }, quality: 80 },
  thumb: { name: 'thumb', version: 4, extension: 'jpg', size: { crop: 150 }, quality: 80 },
  small: { name: 'small', version: 3, extension: 'jpg', size: { longest: 320 }, quality: 80 },
  medium: { name: 'medium', version: 5, extension: 'jpg', size: { longest: 640 }, quality: 80 },
  mediumWebp: { name: 'medium', version: 6, extension: 'webp', size: { longest: 640 }, quality: 80 },
  large: { name: 'large', version: 7, extension: 'jpg', size: { longest: 1200 }, quality: 80 },
  largeWebp: { name: 'large', version: 8, extension: 'webp', size: { longest: 1200 }, quality: 80 },
} as const satisfies Record<string, PictureRecipe>;

/** The whole picture, in its own format if browsers show that, else JPEG; for a video, its poster. */
export function fullRecipe(type: MediaType): PictureRecipe {
  const extension = pictureTypes.find((each) => each === type) ?? 'jpg';
  // Version 3 of these recipes left colours under transparent pixels.
  const version = extension === 'png' || extension === 'avif' ? 4 : 3;
  return { name: 'full', version, extension, size: 'whole', quality: type === 'avif' ? 75 : 90 };
}

/** All pictures of media of this type. */
export function picturesOf(type: MediaType): readonly PictureRecipe[] {
  return [...Object.values(pictureRecipes), fullRecipe(type)];
}

/** The video that browsers play. Object keys and jobs call it `film`, as earlier releases did. */
export const videoRecipe = { name: 'film', version: 6, extension: 'mp4' } as const satisfies Recipe;

/**
 * The renditions that one job makes: `pictures` for pages, other sites and the direct links of small media, `whole` (the whole picture, made on
 * first request), or `film` (missing pictures of a video, then the video).
 */
export type RenditionSet = 'pictures' | 'whole' | 'film';

interface SizedMedia {
  readonly type: MediaType;
  /** Width x height; unknown in jobs of earlier releases. */
  readonly pixels?: number | undefined;
}

// The pixels of the largest other picture: the whole one then adds a tenth to the cost of a job, and a job of its own would add two thirds.
const maxSmallPixels = pictureRecipes.large.size.longest ** 2;

/** The set that has a rendition of this media. */
export function setOf(recipe: Recipe, { pixels = Number.POSITIVE_INFINITY }: Omit<SizedMedia, 'type'>): RenditionSet {
  if (recipe.name === videoRecipe.name) return 'film';
  if (recipe.name !== 'full' || canBeAnimation(recipe)) return 'pictures';
  return pixels <= maxSmallPixels ? 'pictures' : 'whole';
}

/** The recipes of a set; none if media of this type has no such renditions. */
export function recipesOf(set: RenditionSet, media: SizedMedia): readonly Recipe[] {
  if (set === 'film') return isPhoto(media.type) ? [] : [...recipesOf('pictures', media), videoRecipe];
  // An earlier release requests the whole picture of small media as a set too.
  const size = set === 'whole' ? {} : media;
  return picturesOf(media.type).filter((recipe) => setOf(recipe, size) === set);
}

/** The set of a rendition within a job: the job of a video makes its pictures as a set of their own. */
export function subsetOf(set: RenditionSet, recipe: Recipe): RenditionSet {
  return set === 'film' && recipe.name !== videoRecipe.name ? 'pictures' : set;
}

// Pages show whole animations.
function canBeAnimation({ extension }: Recipe): boolean {
  return extension === 'gif' || extension === 'webp';
}
