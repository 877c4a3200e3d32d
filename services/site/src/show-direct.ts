import type { RequestHandler } from 'express';
import { directPath, directRecipe, typeOfExtension } from './direct-address.ts';
import { findPublished } from './find-media.ts';
import type { RenditionSources } from './find-rendition.ts';
import { untilGone } from './follow-request.ts';
import { sendProblem } from './problem-page.ts';
import { redirect } from './redirect.ts';
import { sendRendition } from './send-rendition.ts';

/** `GET /<id>.<type>`: the picture or film itself under its true extension; every other that we know leads there. */
export function showDirect(sources: RenditionSources): RequestHandler<{ id: string; extension: string }> {
  return async (request, response) => {
    const { id, extension } = request.params;
    const asked = typeOfExtension(extension);
    if (!asked) return sendProblem(response, 'not_found');
    const signal = untilGone(response);
    const record = await findPublished(sources, id, signal);
    if (typeof record === 'string') return sendProblem(response, record);
    const recipe = directRecipe(record.type, asked);
    if (recipe.extension !== extension) return redirect(response, directPath(record, asked));
    await sendRendition(request, response, { record, recipe, fileName: `${id}.${extension}`, signal }, sources);
  };
}
