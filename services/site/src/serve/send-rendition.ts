import { contentTypeOf } from '@echodrop/media/media-type';
import type { Recipe } from '@echodrop/media/recipes';
import type { Request, Response } from 'express';
import { findMedia, isMediaGone, type PublishedMedia } from '../find/find-media.ts';
import { type FoundRendition, makeRendition, storedRendition } from '../find/find-rendition.ts';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';
import { sendObject } from './send-object.ts';

interface RenditionRequest {
  readonly record: PublishedMedia;
  readonly recipe: Recipe;
  /** For browsers that save the file. */
  readonly fileName?: string;
  /** Aborted when the reader leaves. */
  readonly signal: AbortSignal;
}

/** Sends a rendition. Waits for a missing one, unless its media is missing too. */
export async function sendRendition(
  request: Request,
  response: Response,
  { record, recipe, fileName, signal }: RenditionRequest,
  site: Site,
): Promise<void> {
  const object = await storedRendition(record, recipe, site);
  if (!object && (await isMediaGone(record, site, signal))) return sendProblem(response, 'gone', site);
  const found: FoundRendition = object ? { state: 'ready', object } : await makeRendition(record, recipe, site, signal);
  if (found.state === 'not_ready') return sendNotReady(response, record, signal, site);
  if (found.state !== 'ready') return sendProblem(response, found.state, site);
  const { store, robots } = site;
  const isSent = await sendObject(request, response, {
    ...{ store, object: found.object, contentType: contentTypeOf(recipe.extension), robots, signal },
    ...(fileName !== undefined && { fileName }),
  });
  if (!isSent) await sendNotReady(response, record, signal, site);
}

// The upload may have been removed meanwhile.
async function sendNotReady(
  response: Response,
  { id }: PublishedMedia,
  signal: AbortSignal,
  site: Site,
): Promise<void> {
  const media = await findMedia(site, id, signal);
  sendProblem(response, typeof media === 'string' ? media : 'not_ready', site);
}
