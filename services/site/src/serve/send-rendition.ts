import type { Recipe } from '@echodrop/media/recipes';
import type { Request, Response } from 'express';
import { findMedia, isMediaGone, type PublishedMedia } from '../find/find-media.ts';
import { type FoundRendition, makeRendition, storedRendition } from '../find/find-rendition.ts';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';
import { serveBytes } from './serve-bytes.ts';

interface Wanted {
  readonly record: PublishedMedia;
  readonly recipe: Recipe;
  /** What a browser is to call the file when it is saved. */
  readonly fileName?: string;
  /** Aborted when the reader has gone. */
  readonly signal: AbortSignal;
}

/** Answers with the bytes of a rendition; one that is missing is waited for, unless its media is missing too. */
export async function sendRendition(
  request: Request,
  response: Response,
  { record, recipe, fileName, signal }: Wanted,
  site: Site,
): Promise<void> {
  const object = await storedRendition(record, recipe, site);
  if (!object && (await isMediaGone(record, site, signal))) return sendProblem(response, 'gone', site);
  const found: FoundRendition = object ? { state: 'ready', object } : await makeRendition(record, recipe, site, signal);
  if (found.state === 'not_ready') return sendNotReady(response, record, signal, site);
  if (found.state !== 'ready') return sendProblem(response, found.state, site);
  const { store, robots } = site;
  const isServed = await serveBytes(request, response, {
    ...{ store, object: found.object, contentType: recipe.contentType, robots, signal },
    ...(fileName !== undefined && { fileName }),
  });
  if (!isServed) await sendNotReady(response, record, signal, site);
}

// Its media may have been taken down meanwhile: then nobody needs to look again.
async function sendNotReady(
  response: Response,
  { id }: PublishedMedia,
  signal: AbortSignal,
  site: Site,
): Promise<void> {
  const media = await findMedia(site, id, signal);
  sendProblem(response, typeof media === 'string' ? media : 'not_ready', site);
}
