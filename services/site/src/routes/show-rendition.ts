import { contentTypeOf } from '@echodrop/media/detect-media-type';
import { pictureRecipes, type Recipe } from '@echodrop/media/rendition-recipes';
import type { RequestHandler, Response } from 'express';
import { directPath, directRecipe, typeOfExtension } from '../find/direct-address.ts';
import { findPublished, forgetMedia, isMediaGone, type NoMedia, type PublishedMedia } from '../find/find-media.ts';
import { findRendition, makeRendition, type NoRendition, storedRendition } from '../find/find-rendition.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { type FoundFile, sendObject } from '../serve/send-object.ts';
import type { RequestSources, Site } from '../site.ts';
import { sourcesFor } from './limit-requests.ts';

/** `GET /<id>/large.jpg` and other renditions. */
export function showRendition(recipe: Recipe, site: Site): RequestHandler<{ id: string }> {
  return ({ params: { id } }, response) => sendRendition(response, { id, choose: () => recipe }, site);
}

/** `GET /<id>.<type>`: the picture or video itself. Redirects other known extensions to the right one. */
export function showDirect(site: Site): RequestHandler<{ id: string; extension: string }> {
  return async (request, response, next) => {
    const { id, extension } = request.params;
    const type = typeOfExtension(extension);
    if (!type) return next();
    const choose = (record: PublishedMedia) => {
      const recipe = directRecipe(record.type, type);
      return recipe.extension === extension ? recipe : directPath(record, type);
    };
    await sendRendition(response, { id, choose, saveAs: id }, site);
  };
}

const { mini, thumb, large } = pictureRecipes;
const historicSizes = new Map([mini, thumb, large].map((recipe) => [recipe.name as string, recipe]));

/** `GET /show/<mini|thumb|large|full>/<id>[.<type>]`, for old clients: `full` of a video is its poster unless `type` is a video's. */
export function showHistoric(site: Site): RequestHandler<{ size: string; name: string }> {
  return async (request, response) => {
    const { size, name } = request.params;
    const recipe = historicSizes.get(size);
    const [id = '', extension = ''] = name.split('.');
    if (!recipe && size !== 'full') return sendProblem(response, 'not_found', site);
    const choose = (record: PublishedMedia) => recipe ?? directPath(record, typeOfExtension(extension) ?? 'jpg');
    await sendRendition(response, { id, choose }, site);
  };
}

interface Wanted {
  readonly id: string;
  /** The rendition of a record, or the path to which the request is redirected. */
  readonly choose: (record: PublishedMedia) => Recipe | string;
  /** For browsers that save the file: its name without an extension. */
  readonly saveAs?: string;
}

/** Sends what is wanted. Looks again, once, if the rendition was replaced or deleted since it was found. */
async function sendRendition(response: Response, wanted: Wanted, site: Site): Promise<void> {
  const sources = sourcesFor(site, response);
  for (let look = 1; look <= 2; look += 1) {
    const found = await findWanted(wanted, sources);
    if (typeof found === 'string') return sendProblem(response, found, site);
    if ('path' in found) return redirect(response, found.path);
    if (await sendObject(response, found, sources)) return;
    // One of its readers forgets for all, and all share what is read next. The upload may have been removed meanwhile.
    if (site.memory.forgetValue(found.object.key, found.object)) forgetMedia(found.media, site);
  }
  sendProblem(response, 'not_ready', site);
}

// Readers give up after five seconds.
const wholeWaitMs = 1000;
const replacementWaitMs = 3000;

/**
 * Finds what is wanted. Waits for a missing rendition, unless its media is missing too. `large` takes the place of a whole picture that takes longer
 * than a second, or that cannot be made. The result has no record, because it lasts until the file is sent, and a caption may have 64 KiB.
 */
async function findWanted(
  { id, choose, saveAs }: Wanted,
  sources: RequestSources,
): Promise<
  | NoMedia
  | NoRendition
  | { readonly path: string }
  | (FoundFile & { readonly media: Pick<PublishedMedia, 'id' | 'mediaKey'> })
> {
  const record = await findPublished(sources, id);
  if (typeof record === 'string') return record;
  const recipe = choose(record);
  if (typeof recipe === 'string') return { path: recipe };
  const stored = await storedRendition(record, recipe, sources);
  if (!stored && (await isMediaGone(record, sources))) return 'gone';
  const isWhole = recipe.name === 'full';
  const made = stored ?? (await makeRendition(record, recipe, sources, isWhole ? wholeWaitMs : undefined));
  const isReplacement = isWhole && typeof made === 'string';
  const object = isReplacement ? await findRendition(record, large, sources, replacementWaitMs) : made;
  if (typeof object === 'string') return object;
  const { extension } = isReplacement ? large : recipe;
  const fileName = saveAs && `${saveAs}.${extension}`;
  const media = { id, mediaKey: record.mediaKey };
  return { media, object, contentType: contentTypeOf(extension), fileName, isReplacement };
}
