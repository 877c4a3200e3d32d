import type { Recipe } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { findPublished } from '../find/find-media.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { sendRendition } from '../serve/send-rendition.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';

/** `GET /<id>/large.jpg` and its like: the bytes of one rendition. */
export function showRendition(recipe: Recipe, site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const signal = untilGone(response);
    const record = await findPublished(site, request.params.id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    await sendRendition(request, response, { record, recipe, signal }, site);
  };
}
