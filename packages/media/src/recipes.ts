import { isPhoto, type MediaType } from './media-type.ts';

/**
 * A public rendition of media. A recipe that makes other bytes than before gets a new version, and so a new key in the
 * store.
 */
export interface Recipe {
  readonly name: string;
  readonly version: number;
  /** A media type's name too. */
  readonly extension: MediaType;
  readonly contentType: string;
}

export type PictureFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif';

/**
 * What becomes of a picture's sides, in pixels: `crop` a square of exactly that side, `longest` a picture that is made
 * smaller where it must be, `whole` one that is left as it is.
 */
export type PictureSize = { readonly crop: number } | { readonly longest: number } | 'whole';

/** A picture, of a photo or as the poster of a video. */
export interface PictureRecipe extends Recipe {
  readonly format: PictureFormat;
  readonly size: PictureSize;
  /** 1 to 100, of formats that lose something. */
  readonly quality: number;
}

const formats = {
  jpeg: { format: 'jpeg', extension: 'jpg', contentType: 'image/jpeg' },
  png: { format: 'png', extension: 'png', contentType: 'image/png' },
  gif: { format: 'gif', extension: 'gif', contentType: 'image/gif' },
  webp: { format: 'webp', extension: 'webp', contentType: 'image/webp' },
  avif: { format: 'avif', extension: 'avif', contentType: 'image/avif' },
} as const satisfies Record<PictureFormat, unknown>;

/** The pictures that are made of all media in the same format. */
export const pictureRecipes = {
  mini: { name: 'mini', version: 3, ...formats.jpeg, size: { crop: 75 }, quality: 80 },
  thumb: { name: 'thumb', version: 3, ...formats.jpeg, size: { crop: 150 }, quality: 80 },
  small: { name: 'small', version: 2, ...formats.jpeg, size: { longest: 320 }, quality: 80 },
  medium: { name: 'medium', version: 3, ...formats.jpeg, size: { longest: 640 }, quality: 80 },
  mediumWebp: { name: 'medium', version: 4, ...formats.webp, size: { longest: 640 }, quality: 80 },
  large: { name: 'large', version: 5, ...formats.jpeg, size: { longest: 1200 }, quality: 80 },
  largeWebp: { name: 'large', version: 6, ...formats.webp, size: { longest: 1200 }, quality: 80 },
} as const satisfies Record<string, PictureRecipe>;

/** The whole picture in the format it came in, where browsers show it, else as JPEG; of a video its poster. */
export function fullRecipe(type: MediaType): PictureRecipe {
  const own = formatOf(type);
  return { name: 'full', version: 2, ...formats[own], size: 'whole', quality: own === 'avif' ? 75 : 90 };
}

/** Every picture that is made of media of this type. */
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
 * What is made together, in one job: `pictures` what pages and other sites show, `whole` the whole picture, which is made
 * on first request, `film` the video, and before it what is missing of its pictures.
 */
export type RenditionSet = 'pictures' | 'whole' | 'film';

/** Which set a recipe belongs to. */
export function setOf(recipe: Recipe): RenditionSet {
  if (recipe.name === videoRecipe.name) return 'film';
  return recipe.name === 'full' && !mayMove(recipe) ? 'whole' : 'pictures';
}

/** The recipes of a set; none where media of this type has no such renditions. */
export function recipesOf(set: RenditionSet, type: MediaType): readonly Recipe[] {
  if (set === 'film') return isPhoto(type) ? [] : [...recipesOf('pictures', type), videoRecipe];
  return picturesOf(type).filter((recipe) => setOf(recipe) === set);
}

// The page shows these whole, as only they move.
function mayMove({ extension }: Recipe): boolean {
  return extension === formats.gif.extension || extension === formats.webp.extension;
}

function formatOf(type: MediaType): PictureFormat {
  return type === 'png' || type === 'gif' || type === 'webp' || type === 'avif' ? type : 'jpeg';
}
