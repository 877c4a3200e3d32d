import { isPhoto } from '@echodrop/media/media-type';
import { fullRecipe, pictureRecipes, type Recipe, videoRecipe } from '@echodrop/media/recipes';
import type { RequestHandler } from 'express';
import { findMedia, type NoMedia, type PublishedMedia } from '../find/find-media.ts';
import { findRendition, makeRendition, storedRendition } from '../find/find-rendition.ts';
import { isAnimated } from '../find/is-animated.ts';
import { lookAgain, lookingSince } from '../find/look-again.ts';
import { isTall, mediaPage, type Shown } from '../pages/media-page.ts';
import { sendPage } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';

/** `GET /<id>`: the page, with as much of the media as is ready; while something is missing, the browser looks again by itself. */
export function showPage(site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const signal = untilGone(response);
    const record = await findMedia(site, request.params.id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);

    const shown = await findShown(record, site, signal);
    if (typeof shown === 'string') return sendProblem(response, shown, site);
    const since = lookingSince(request);
    // A video that can be played is not stopped by a look for its poster.
    const isPending = shown.video !== 'ready' && hasPending(shown);
    // What people copy from their browser is the address that the record has.
    if (since !== undefined && !isPending) return response.redirect(302, `/${record.id}`);
    const looksAgain = isPending && lookAgain(response, { path: `/${record.id}`, published: record.timestamp, since });
    sendPage(response, 200, mediaPage(record, { ...shown, looksAgain }, site), site);
  };
}

/**
 * How far the renditions are that a page of media shows, after a short wait for what is missing; or what became of the media while that was
 * waited for.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function findShown(record: PublishedMedia, site: Site, signal: AbortSignal): Promise<Shown | NoMedia> {
  const shown = await renditionsShown(record, site, signal);
  const found = hasPending(shown) ? await findMedia(site, record.id, signal) : record;
  return typeof found === 'string' ? found : shown;
}

function hasPending({ picture, video }: Shown): boolean {
  return picture === 'not_ready' || video === 'not_ready';
}

async function renditionsShown(record: PublishedMedia, site: Site, signal: AbortSignal): Promise<Shown> {
  const stateOf = async (recipe: Recipe) => (await findRendition(record, recipe, site, signal)).state;
  if (isPhoto(record.type)) {
    const picture = await stateOf(isTall(record) ? fullRecipe(record.type) : pictureRecipes.large);
    if (picture !== 'ready') return { picture };
    const { mediumWebp } = pictureRecipes;
    const asked = [storedRendition(record, mediumWebp, site), isAnimated(record, site.store, signal)] as const;
    const [medium, moves] = await Promise.all(asked);
    // What was uploaded before there were medium pictures gets its own when somebody looks, who need not wait for it.
    if (!medium) makeRendition(record, mediumWebp, site, signal).catch(() => {});
    return { picture, hasMedium: medium !== undefined, isAnimated: moves };
  }
  const [picture, video] = await Promise.all([stateOf(pictureRecipes.large), stateOf(videoRecipe)]);
  return { picture, video };
}
