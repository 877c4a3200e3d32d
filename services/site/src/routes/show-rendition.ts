import { contentTypeOf } from '@echodrop/media/detect-media-type';
import { pictureRecipes, type Recipe } from '@echodrop/media/rendition-recipes';
import type { Request, RequestHandler, Response } from 'express';
import { directPath, directRecipe, typeOfExtension } from '../find/direct-address.ts';
import { findMedia, findPublished, isMediaGone, type PublishedMedia } from '../find/find-media.ts';
import { type FoundRendition, makeRendition, storedRendition } from '../find/find-rendition.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { sendObject } from '../serve/send-object.ts';
import type { Site } from '../site.ts';
import { closeSignal } from './log-requests.ts';

/** `GET /<id>/large.jpg` and other renditions. */
export function showRendition(recipe: Recipe, site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const signal = closeSignal(response);
    const record = await findPublished(site, request.params.id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    await sendRendition(request, response, { record, recipe, signal }, site);
  };
}

/** `GET /<id>.<type>`: the picture or video itself. Redirects other known extensions to the right one. */
export function showDirect(site: Site): RequestHandler<{ id: string; extension: string }> {
  return async (request, response, next) => {
    const { id, extension } = request.params;
    const type = typeOfExtension(extension);
    if (!type) return next();
    const signal = closeSignal(response);
    const record = await findPublished(site, id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    const recipe = directRecipe(record.type, type);
    if (recipe.extension !== extension) return redirect(response, directPath(record, type));
    await sendRendition(request, response, { record, recipe, fileName: `${id}.${extension}`, signal }, site);
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
    const signal = closeSignal(response);
    const record = await findPublished(site, id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    if (!recipe) return redirect(response, directPath(record, typeOfExtension(extension) ?? 'jpg'));
    await sendRendition(request, response, { record, recipe, signal }, site);
  };
}

interface Wanted {
  readonly record: PublishedMedia;
  readonly recipe: Recipe;
  /** For browsers that save the file. */
  readonly fileName?: string;
  /** Aborted when the reader leaves. */
  readonly signal: AbortSignal;
}

/** Sends a rendition. Waits for a missing one, unless its media is missing too. */
async function sendRendition(request: Request<object>, response: Response, wanted: Wanted, site: Site): Promise<void> {
  const { record, recipe, signal, ...naming } = wanted;
  const object = await storedRendition(record, recipe, site);
  if (!object && (await isMediaGone(record, site, signal))) return sendProblem(response, 'gone', site);
  const found: FoundRendition = object ? { state: 'ready', object } : await makeRendition(record, recipe, site, signal);
  if (found.state === 'unsupported') return sendProblem(response, 'unsupported', site);
  if (found.state === 'ready') {
    const { store, robots } = site;
    const source = {
      store,
      object: found.object,
      contentType: contentTypeOf(recipe.extension),
      robots,
      signal,
      ...naming,
    };
    if (await sendObject(request, response, source)) return;
  }
  // The upload may have been removed meanwhile.
  const media = await findMedia(site, record.id, signal);
  sendProblem(response, typeof media === 'string' ? media : 'not_ready', site);
}
