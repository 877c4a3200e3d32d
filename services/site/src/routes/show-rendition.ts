import { pictureRecipes, type Recipe } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { directPath, directRecipe, typeOfExtension } from '../find/direct-address.ts';
import { findPublished } from '../find/find-media.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { sendRendition } from '../serve/send-rendition.ts';
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

/**
 * `GET /show/<mini|thumb|large|full>/<id>`, which old clients use for pictures, with or without an extension. So `full` of a video is its
 * poster, unless the extension is a video's.
 */
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
