import { isPhoto, type MediaType, mediaTypes } from '@echodrop/media/detect-media-type';
import { fullRecipe, type Recipe, videoRecipe } from '@echodrop/media/rendition-recipes';
import { isMediaId } from '@echodrop/record';
import type { PublishedMedia } from './find-media.ts';

/**
 * The recipe behind `/<id>.<requested>`. Photo: the whole picture in its own format, or in JPEG if browsers do not show that.
 * Video: the video, or its poster if a photo type is requested.
 */
export function directRecipe(type: MediaType, requested: MediaType = type): Recipe {
  return isPhoto(type) || isPhoto(requested) ? fullRecipe(type) : videoRecipe;
}

/** The canonical path of the picture or video itself. */
export function directPath({ id, type }: Pick<PublishedMedia, 'id' | 'type'>, requested?: MediaType): string {
  return `/${id}.${directRecipe(type, requested).extension}`;
}

const otherExtensions = new Map<string, MediaType>([
  ['jpeg', 'jpg'],
  ['tif', 'tiff'],
  ['heif', 'heic'],
  ['m4v', 'mp4'],
  ['3g2', '3gp'],
  ['mpeg', 'mpg'],
]);

/** All file extensions of accepted media. */
export const knownExtensions: readonly string[] = [...mediaTypes, ...otherExtensions.keys()];

/** The media type of a file extension, in upper or lower case. */
export function typeOfExtension(extension: string): MediaType | undefined {
  const name = extension.toLowerCase();
  return mediaTypes.find((type) => type === name) ?? otherExtensions.get(name);
}

/** The media id in the address of a page or a direct address, with or without query and fragment; undefined for any other address. */
export function mediaIdAt(address: string, publicSite: string): string | undefined {
  const url = URL.parse(address);
  if (url?.origin !== new URL(publicSite).origin) return undefined;
  const [, id = '', extension] = /^\/(\w+)(?:\.(\w+))?\/*$/.exec(url.pathname) ?? [];
  if (extension !== undefined && typeOfExtension(extension) === undefined) return undefined;
  return isMediaId(id) ? id : undefined;
}
