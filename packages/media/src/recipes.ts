import { isPhoto, type MediaType } from './media-type.ts';

/** A public rendition of media. A recipe that makes other bytes than before needs a new version, and so a new store key. */
export interface Recipe {
  readonly name: string;
  readonly version: number;
  readonly extension: MediaType;
  readonly contentType: string;
}

export type PictureFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif';

/** Pixels: `crop` is the side of a square, `longest` the maximum of the longer side, `whole` keeps the size. */
export type PictureSize = { readonly crop: number } | { readonly longest: number } | 'whole';

/** A picture of a photo, or a poster of a video. */
export interface PictureRecipe extends Recipe {
  readonly format: PictureFormat;
  readonly size: PictureSize;
  /** 1 to 100, for lossy formats. */
  readonly quality: number;
}

const formats = {
  jpeg: { format: 'jpeg', extension: 'jpg', contentType: 'image/jpeg' },
  png: { format: 'png', extension: 'png', contentType: 'image/png' },
  gif: { format: 'gif', extension: 'gif', contentType: 'image/gif' },
  webp: { format: 'webp', extension: 'webp', contentType: 'image/webp' },
  avif: { format: 'avif', extension: 'avif', contentType: 'image/avif' },
} as const satisfies Record<PictureFormat, unknown>;

/** The pictures that all media have. */
export const pictureRecipes = {
  mini: { name: 'mini', version: 3, ...formats.jpeg, size: { crop: 75 }, quality: 80 },
  thumb: { name: 'thumb', version: 3, ...formats.jpeg, size: { crop: 150 }, quality: 80 },
  small: { name: 'small', version: 2, ...formats.jpeg, size: { longest: 320 }, quality: 80 },
  medium: { name: 'medium', version: 3, ...formats.jpeg, size: { longest: 640 }, quality: 80 },
  mediumWebp: { name: 'medium', version: 4, ...formats.webp, size: { longest: 640 }, quality: 80 },
  large: { name: 'large', version: 5, ...formats.jpeg, size: { longest: 1200 }, quality: 80 },
  largeWebp: { name: 'large', version: 6, ...formats.webp, size: { longest: 1200 }, quality: 80 },
} as const satisfies Record<string, PictureRecipe>;

/** The whole picture, in its own format if browsers show that, else JPEG; for a video, its poster. */
export function fullRecipe(type: MediaType): PictureRecipe {
  const own = pictureFormat(type);
  return { name: 'full', version: 2, ...formats[own], size: 'whole', quality: own === 'avif' ? 75 : 90 };
}

/** All pictures of media of this type. */
export function picturesOf(type: MediaType): readonly PictureRecipe[] {
  return [...Object.values(pictureRecipes), fullRecipe(type)];
}

/** The video that browsers play. Object keys and jobs call it `film`, as earlier releases did. */
export const videoRecipe = {
  name: 'film',
  version: 4,
  extension: 'mp4',
  contentType: 'video/mp4',
} as const satisfies Recipe;

/**
 * The renditions that one job makes: `pictures` for pages and other sites, `whole` (the whole picture, made on first
 * request), or `film` (missing pictures of a video, then the video).
 */
export type RenditionSet = 'pictures' | 'whole' | 'film';

export function setOf(recipe: Recipe): RenditionSet {
  if (recipe.name === videoRecipe.name) return 'film';
  return recipe.name === 'full' && !canBeAnimation(recipe) ? 'whole' : 'pictures';
}

/** The recipes of a set; none if media of this type has no such renditions. */
export function recipesOf(set: RenditionSet, type: MediaType): readonly Recipe[] {
  if (set === 'film') return isPhoto(type) ? [] : [...recipesOf('pictures', type), videoRecipe];
  return picturesOf(type).filter((recipe) => setOf(recipe) === set);
}

// Pages show whole animations.
function canBeAnimation({ extension }: Recipe): boolean {
  return extension === formats.gif.extension || extension === formats.webp.extension;
}

function pictureFormat(type: MediaType): PictureFormat {
  return type === 'png' || type === 'gif' || type === 'webp' || type === 'avif' ? type : 'jpeg';
}
