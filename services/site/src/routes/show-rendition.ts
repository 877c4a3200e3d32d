import { contentTypeOf } from '@echodrop/media/detect-media-type';
import { pictureRecipes, type Recipe } from '@echodrop/media/rendition-recipes';
import type { StoredObject } from '@echodrop/object-store/object-store';
import type { Request, RequestHandler, Response } from 'express';
import { directPath, directRecipe, typeOfExtension } from '../find/direct-address.ts';
import {
  findMedia,
  findPublished,
  forgetMedia,
  isMediaGone,
  type NoMedia,
  type PublishedMedia,
} from '../find/find-media.ts';
import { forgetObject } from '../find/find-object.ts';
import { type FoundRendition, findRendition, makeRendition, storedRendition } from '../find/find-rendition.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { redirect } from '../serve/redirect.ts';
import { sendObject } from '../serve/send-object.ts';
import type { Site } from '../site.ts';
import { sourcesWithoutSlot } from './limit-requests.ts';
import { closeSignal } from './log-requests.ts';

/** `GET /<id>/large.jpg` and other renditions. */
export function showRendition(recipe: Recipe, site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    await sendRendition(request, response, { id: request.params.id, choose: () => recipe }, site);
  };
}

/** `GET /<id>.<type>`: the picture or video itself. Redirects other known extensions to the right one. */
export function showDirect(site: Site): RequestHandler<{ id: string; extension: string }> {
  return async (request, response, next) => {
    const { id, extension } = request.params;
    const type = typeOfExtension(extension);
    if (!type) return next();
    const choose = (record: PublishedMedia) => {
      const recipe = directRecipe(record.type, type);
      return recipe.extension === extension ? recipe : directPath(record, type);
    };
    await sendRendition(request, response, { id, choose, saveAs: id }, site);
  };
}

const { mini, thumb, large } = pictureRecipes;
const historicSizes = new Map([mini, thumb, large].map((recipe) => [recipe.name as string, recipe]));

/** `GET /show/<mini|thumb|large|full>/<id>[.<type>]`, for old clients: `full` of a video is its poster unless `type` is a video's. */
export function showHistoric(site: Site): RequestHandler<{ size: string; name: string }> {
  return async (request, response) => {
    const { size, name } = request.params;
    const recipe = historicSizes.get(size);
    const [id = '', extension = ''] = name.split('.');
    if (!recipe && size !== 'full') return sendProblem(response, 'not_found', site);
    const choose = (record: PublishedMedia) => recipe ?? directPath(record, typeOfExtension(extension) ?? 'jpg');
    await sendRendition(request, response, { id, choose }, site);
  };
}

interface Wanted {
  readonly id: string;
  /** The rendition of a record, or the path to which the request is redirected. */
  readonly choose: (record: PublishedMedia) => Recipe | string;
  /** For browsers that save the file: its name without an extension. */
  readonly saveAs?: string;
}

/** Sends what is wanted. Looks again, once, if the rendition was replaced or deleted since it was found. */
async function sendRendition(request: Request<object>, response: Response, wanted: Wanted, site: Site): Promise<void> {
  const isSent =
    (await tryToSend(request, response, wanted, site)) || (await tryToSend(request, response, wanted, site));
  if (!isSent) sendProblem(response, 'not_ready', site);
}

/** False, and nothing is sent, if the rendition no longer is what was found. */
async function tryToSend(request: Request<object>, response: Response, wanted: Wanted, site: Site): Promise<boolean> {
  const signal = closeSignal(response);
  const found = await findWanted(wanted, sourcesWithoutSlot(site, response), signal);
  if (typeof found === 'string') sendProblem(response, found, site);
  else if ('path' in found) redirect(response, found.path);
  else if (found.rendition) {
    if (await sendFound(request, response, { ...wanted, ...found.rendition, signal }, site)) return true;
    // One of its readers forgets for all, and all share what is read next. The upload may have been removed meanwhile.
    if (forgetObject(found.rendition.object, site)) forgetMedia(found.media, site);
    return false;
  } else {
    // The upload may have been removed meanwhile.
    forgetMedia(found.media, site);
    const after = await findMedia(site, found.media.id, signal);
    sendProblem(response, typeof after === 'string' ? after : 'not_ready', site);
  }
  return true;
}

interface Found {
  readonly media: Pick<PublishedMedia, 'id' | 'mediaKey'>;
  /** Unless it is not ready in time. */
  readonly rendition?: FoundObject;
}

interface FoundObject {
  readonly object: StoredObject;
  readonly extension: Recipe['extension'];
  /** Whether `object` takes the place of the whole picture. */
  readonly isReplacement: boolean;
}

/**
 * Waits for a missing rendition, unless its media is missing too; for the whole picture briefly, as a smaller one takes its place. Its record is not
 * held while it is sent: a caption may have 64 KiB.
 */
async function findWanted(
  { id, choose }: Wanted,
  site: Site,
  signal: AbortSignal,
): Promise<NoMedia | 'unsupported' | { readonly path: string } | Found> {
  const record = await findPublished(site, id, signal);
  if (typeof record === 'string') return record;
  const recipe = choose(record);
  if (typeof recipe === 'string') return { path: recipe };
  const media = { id, mediaKey: record.mediaKey };
  const stored = await storedRendition(record, recipe, site, signal);
  if (!stored && (await isMediaGone(record, site, signal))) return 'gone';
  const found = stored
    ? ({ state: 'ready', object: stored } as const)
    : await makeOrReplace(record, recipe, site, signal);
  if (found.state !== 'ready') return found.state === 'unsupported' ? found.state : { media };
  const { object, replacement } = found;
  const { extension } = replacement ?? recipe;
  return { media, rendition: { object, extension, isReplacement: replacement !== undefined } };
}

// Readers give up after five seconds.
const wholeWaitMs = 1000;
const replacementWaitMs = 3000;

/** A missing rendition, once it is made; `large` in place of a whole picture that takes longer than a second, or that cannot be made. */
async function makeOrReplace(
  record: PublishedMedia,
  recipe: Recipe,
  site: Site,
  signal: AbortSignal,
): Promise<FoundRendition & { readonly replacement?: Recipe }> {
  if (recipe.name !== 'full') return makeRendition(record, recipe, site, signal);
  const found = await makeRendition(record, recipe, site, signal, wholeWaitMs);
  if (found.state === 'ready') return found;
  return { ...(await findRendition(record, large, site, signal, replacementWaitMs)), replacement: large };
}

function sendFound(
  request: Request<object>,
  response: Response,
  found: FoundObject & Pick<Wanted, 'saveAs'> & { readonly signal: AbortSignal },
  { store, memory, robots }: Site,
): Promise<boolean> {
  const { object, extension, isReplacement, saveAs, signal } = found;
  const fileName = saveAs && `${saveAs}.${extension}`;
  const source = { store, memory, object, robots, signal, contentType: contentTypeOf(extension), isReplacement };
  return sendObject(request, response, { ...source, ...(fileName && { fileName }) });
}
