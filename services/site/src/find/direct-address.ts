import { isPhoto, type MediaType, mediaTypes } from '@echodrop/media/media-type';
import { fullRecipe, type Recipe, videoRecipe } from '@echodrop/media/recipes';
import type { PublishedMedia } from './find-media.ts';

/**
 * What `/<id>.<type>` answers with: of a photo the whole picture in its own format, or as JPEG where browsers do not show that; of a
 * video the video, or its poster where a type of photo is asked for.
 */
export function directRecipe(type: MediaType, asked: MediaType = type): Recipe {
  return isPhoto(type) || isPhoto(asked) ? fullRecipe(type) : videoRecipe;
}

/** The one address, below the site's own, at which the picture or video itself is. */
export function directPath({ id, type }: Pick<PublishedMedia, 'id' | 'type'>, asked?: MediaType): string {
  return `/${id}.${directRecipe(type, asked).extension}`;
}

// How files of our types are also named.
const otherExtensions = new Map<string, MediaType>([
  ['jpeg', 'jpg'],
  ['tif', 'tiff'],
  ['heif', 'heic'],
  ['m4v', 'mp4'],
  ['3g2', '3gp'],
  ['mpeg', 'mpg'],
]);

/** The type that a file's extension stands for, in letters of either case. */
export function typeOfExtension(extension: string): MediaType | undefined {
  const name = extension.toLowerCase();
  return mediaTypes.find((type) => type === name) ?? otherExtensions.get(name);
}
