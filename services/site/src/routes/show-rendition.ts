import { contentTypeOf } from '@echodrop/media/detect-media-type';
import { pictureRecipes, type Recipe } from '@echodrop/media/rendition-recipes';
import type { StoredObject } from '@echodrop/object-store/object-store';
import type { Request, RequestHandler, Response } from 'express';
import { directPath, directRecipe, typeOfExtension } from '../find/direct-address.ts';
import { findMedia, findPublished, isMediaGone, type NoMedia, type PublishedMedia } from '../find/find-media.ts';
import { makeRendition, storedRendition } from '../find/find-rendition.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { sendObject } from '../serve/send-object.ts';
import type { Site } from '../site.ts';
import { sourcesWithoutSlot } from './limit-requests.ts';
import { closeSignal } from './log-requests.ts';

/** `GET /<id>/large.jpg` and other renditions. */
export function showRendition(recipe: Recipe, site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    await sendRendition(request, response, { id: request.params.id, choose: () => recipe }, site);
  };
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
    await sendRendition(request, response, { id, choose, fileName: `${id}.${extension}` }, site);
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
    await sendRendition(request, response, { id, choose }, site);
  };
}

interface Wanted {
  readonly id: string;
  /** The rendition of a record, or the path to which the request is redirected. */
  readonly choose: (record: PublishedMedia) => Recipe | string;
  /** For browsers that save the file. */
  readonly fileName?: string;
}

async function sendRendition(request: Request<object>, response: Response, wanted: Wanted, site: Site): Promise<void> {
  const signal = closeSignal(response);
  const found = await findWanted(wanted, sourcesWithoutSlot(site, response), signal);
  if (typeof found === 'string') return sendProblem(response, found, site);
  if (found && 'path' in found) return redirect(response, found.path);
  const { id, fileName } = wanted;
  const { store, robots } = site;
  const source = found && { ...found, store, robots, signal, ...(fileName !== undefined && { fileName }) };
  if (source && (await sendObject(request, response, source))) return;
  // The upload may have been removed meanwhile.
  const media = await findMedia(site, id, signal);
  sendProblem(response, typeof media === 'string' ? media : 'not_ready', site);
}

type Found = { readonly path: string } | { readonly object: StoredObject; readonly contentType: string };

/**
 * Waits for a missing rendition, unless its media is missing too. Its record is not held while it is sent: a caption may have 64 KiB.
 * @returns undefined if it is not ready in time
 */
async function findWanted(
  { id, choose }: Wanted,
  site: Site,
  signal: AbortSignal,
): Promise<NoMedia | 'unsupported' | Found | undefined> {
  const record = await findPublished(site, id, signal);
  if (typeof record === 'string') return record;
  const recipe = choose(record);
  if (typeof recipe === 'string') return { path: recipe };
  const contentType = contentTypeOf(recipe.extension);
  const object = await storedRendition(record, recipe, site);
  if (object) return { object, contentType };
  if (await isMediaGone(record, site, signal)) return 'gone';
  const made = await makeRendition(record, recipe, site, signal);
  if (made.state === 'ready') return { object: made.object, contentType };
  return made.state === 'unsupported' ? made.state : undefined;
}
