import type { Recipe } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { findMedia } from './find-media.ts';
import { findRendition, type RenditionSources } from './find-rendition.ts';
import { untilGone } from './follow-request.ts';
import { sendProblem } from './problem-page.ts';
import { serveBytes } from './serve-bytes.ts';

/** `GET /<id>/large.jpg` and its like: the bytes of one rendition. */
export function showRendition(recipe: Recipe, sources: RenditionSources): RequestHandler<{ id: string }> {
  const { store } = sources;
  return async (request, response) => {
    const signal = untilGone(response);
    const record = await findMedia(store, request.params.id, signal);
    if (!record) return sendProblem(response, 'not_found');
    const found = await findRendition(record, recipe, sources, signal);
    if (found.state !== 'ready') return sendProblem(response, found.state);
    await serveBytes(request, response, { store, object: found.object, contentType: recipe.contentType, signal });
  };
}
