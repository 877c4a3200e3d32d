import { pictureRecipes } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { directPath, typeOfExtension } from '../find/direct-address.ts';
import { findPublished } from '../find/find-media.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { sendRendition } from '../serve/send-rendition.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';

const { mini, thumb, large } = pictureRecipes;
const sizes = new Map([mini, thumb, large].map((recipe) => [recipe.name as string, recipe]));

/**
 * `GET /show/<mini|thumb|large|full>/<id>`, as clients of old build it, with an extension or without, which says nothing: they put it
 * where a picture stands, and so `full` of a video leads to its poster, unless the extension is a video's.
 */
export function showHistoric(site: Site): RequestHandler<{ size: string; name: string }> {
  return async (request, response) => {
    const { size, name } = request.params;
    const recipe = sizes.get(size);
    const [id = '', extension = ''] = name.split('.');
    if (!recipe && size !== 'full') return sendProblem(response, 'not_found', site);
    const signal = untilGone(response);
    const record = await findPublished(site, id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    if (!recipe) return redirect(response, directPath(record, typeOfExtension(extension) ?? 'jpg'));
    await sendRendition(request, response, { record, recipe, signal }, site);
  };
}
