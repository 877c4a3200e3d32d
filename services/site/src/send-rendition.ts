import type { Recipe } from '@echodrop/media/recipes';
import type { Request, Response } from 'express';
import { isMediaGone, type PublishedMedia } from './find-media.ts';
import { type FoundRendition, makeRendition, type RenditionSources, storedRendition } from './find-rendition.ts';
import { sendProblem } from './problem-page.ts';
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
  sources: RenditionSources,
): Promise<void> {
  const object = await storedRendition(record, recipe, sources);
  if (!object && (await isMediaGone(record, sources, signal))) return sendProblem(response, 'gone');
  const found: FoundRendition = object
    ? { state: 'ready', object }
    : await makeRendition(record, recipe, sources, signal);
  if (found.state !== 'ready') return sendProblem(response, found.state);
  const { store } = sources;
  await serveBytes(request, response, {
    ...{ store, object: found.object, contentType: recipe.contentType, signal },
    ...(fileName !== undefined && { fileName }),
  });
}
