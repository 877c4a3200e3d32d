import type { Recipe } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { findPublished } from './find-media.ts';
import type { RenditionSources } from './find-rendition.ts';
import { untilGone } from './follow-request.ts';
import { sendProblem } from './problem-page.ts';
import { sendRendition } from './send-rendition.ts';

/** `GET /<id>/large.jpg` and its like: the bytes of one rendition. */
export function showRendition(recipe: Recipe, sources: RenditionSources): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const signal = untilGone(response);
    const record = await findPublished(sources, request.params.id, signal);
    if (typeof record === 'string') return sendProblem(response, record);
    await sendRendition(request, response, { record, recipe, signal }, sources);
  };
}
