import type { RequestHandler } from 'express';
import { directPath, directRecipe, typeOfExtension } from '../find/direct-address.ts';
import { findPublished } from '../find/find-media.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { sendRendition } from '../serve/send-rendition.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';

/** `GET /<id>.<type>`: the picture or video itself under its true extension; every other that we know leads there. What has another is none of it. */
export function showDirect(site: Site): RequestHandler<{ id: string; extension: string }> {
  return async (request, response, next) => {
    const { id, extension } = request.params;
    const asked = typeOfExtension(extension);
    if (!asked) return next();
    const signal = untilGone(response);
    const record = await findPublished(site, id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    const recipe = directRecipe(record.type, asked);
    if (recipe.extension !== extension) return redirect(response, directPath(record, asked));
    await sendRendition(request, response, { record, recipe, fileName: `${id}.${extension}`, signal }, site);
  };
}
