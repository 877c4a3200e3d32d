import { isPhoto } from '@echodrop/media/media-type';
import { filmRecipe, pictureRecipes, type Recipe } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { findMedia, type PublishedMedia } from './find-media.ts';
import { findRendition, type RenditionSources } from './find-rendition.ts';
import { untilGone } from './follow-request.ts';
import { mediaPage, type Shown } from './media-page.ts';
import { sendPage } from './page.ts';
import { sendProblem } from './problem-page.ts';

/** `GET /<id>`: the page, with as much of the media as is ready. */
export function showPage(sources: RenditionSources): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const signal = untilGone(response);
    const record = await findMedia(sources.store, request.params.id, signal);
    if (!record) return sendProblem(response, 'not_found');
    sendPage(response, 200, mediaPage(record, await findShown(record, sources, signal)));
  };
}

async function findShown(record: PublishedMedia, sources: RenditionSources, signal: AbortSignal): Promise<Shown> {
  const stateOf = async (recipe: Recipe) => (await findRendition(record, recipe, sources, signal)).state;
  if (isPhoto(record.type)) return { picture: await stateOf(pictureRecipes.large) };
  const [picture, film] = await Promise.all([stateOf(pictureRecipes.large), stateOf(filmRecipe)]);
  return { picture, film };
}
