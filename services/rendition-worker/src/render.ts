import { createWriteStream } from 'node:fs';
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import { type Rendered, type UnsupportedReason, unsupported } from '@echodrop/media/outcomes';
import { renderPictures } from '@echodrop/media/render-picture/render-pictures';
import { renderVideo } from '@echodrop/media/render-video/render-video';
import {
  isPictureRecipe,
  type Recipe,
  type RenditionSet,
  recipesOf,
  subsetOf,
  videoRecipe,
} from '@echodrop/media/rendition-recipes';
import { ToolStopped } from '@echodrop/media/sandbox/run-tool';
import { OutputRefused } from '@echodrop/media/sandbox/tool-output';
import { isVideo, type LocalMedia, readVideo } from '@echodrop/media/video-layout/read-video';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Deferred } from '@echodrop/queue/slow-lane';
import { deferCostlyVideo, deferExceeded, deferKnownToBeCostly } from './defer-to-slow-lane.ts';
import type { RenditionEvents } from './events.ts';
import { reportNotShown } from './failed-job.ts';
import type { LaneLimits } from './lane-limits.ts';
import { OwnerBlocked, runUnlessRemoved } from './run-unless-removed.ts';
import {
  discardIfRemoved,
  noteMissing,
  type RenditionFile,
  type RenditionStatus,
  readStatus,
  type StatusSource,
  storeRenditions,
} from './stored-renditions.ts';
import { noteFor, noteUnsupported } from './unsupported-renditions.ts';

interface RenderDeps extends StatusSource {
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Media of these types is not fetched. */
  readonly typesOff: ReadonlySet<MediaType>;
  readonly limits: LaneLimits;
  /** Gets the share of a transcoding that is done, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  readonly events: Omit<RenditionEvents, 'jobEnded'>;
}

/**
 * Makes and stores the missing renditions of a set. If one cannot be made, the others are stored and the reply is
 * `unsupported`. If a tool left something other than its output, the media is `broken` and nothing of that set is stored.
 * Renditions noted as `broken` or `too_costly` are not retried with the same tools.
 * @throws Deferred, MediaRemoved, StoreUnavailable, ToolFailed, the signal's reason, or an Error of the disk
 */
export async function render(
  request: RenditionRequest,
  signal: AbortSignal,
  deps: RenderDeps,
): Promise<RenditionReply> {
  const { mediaKey, type, set } = request;
  const { store, limits } = deps;
  const recipes = recipesOf(set, request);
  if (recipes.length === 0) return unsupported('no_picture');
  const status = await readStatus(recipes, mediaKey, deps);
  try {
    if (status.missing.length === 0) return outcomeOf(request, status);
    if (deps.typesOff.has(type)) return report(request, unsupported('type_off'), deps);
    deferKnownToBeCostly(request, limits);
    return await runUnlessRemoved(request, store, signal, async (signal) => {
      await using folder = await mkdtempDisposable(join(deps.scratchDir, 'job-'));
      const media = await fetchMedia(request, join(folder.path, 'media'), store, signal);
      // The pictures of a video move with it, unless a page requests them: a hundred posters would delay the next owner's video.
      if (set === 'film' && typeof media === 'object' && isVideo(media)) deferCostlyVideo(media, limits);
      // Tools write to this folder only.
      const scratchDir = join(folder.path, 'out');
      await mkdir(scratchDir);
      const rendered = await renderSetsInOrder(request, status, media, { ...deps, scratchDir, signal });
      return rendered.outcome === 'made' ? outcomeOf(request, status) : rendered;
    });
  } catch (error) {
    return await replyToFailure(error, request, deps);
  } finally {
    await discardIfRemoved(mediaKey, store);
  }
}

// Copies media from the store to `path`. Returns why a video cannot be shown, if its tracks say so.
async function fetchMedia(
  { mediaKey, type }: RenditionRequest,
  path: string,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<LocalMedia | UnsupportedReason> {
  const object = await store.read(mediaObjectKey(mediaKey), { signal });
  if (object === undefined) throw new Error('media not found in object store');
  await pipeline(object.body, createWriteStream(path), { signal });
  return isPhoto(type) ? { path, type } : readVideo(path, type, signal);
}

type JobDeps = RenderDeps & { readonly signal: AbortSignal };

// The pictures of a video come first, as the video may take minutes. Their failure fails the job, but the video is still made.
async function renderSetsInOrder(
  request: RenditionRequest,
  { missing }: RenditionStatus,
  media: LocalMedia | UnsupportedReason,
  deps: JobDeps,
): Promise<Rendered> {
  let result: Rendered = { outcome: 'made' };
  const failures: unknown[] = [];
  for (const [set, recipes] of Map.groupBy(missing, (recipe) => subsetOf(request.set, recipe))) {
    try {
      const rendered = await renderAndStoreSet(recipes, { ...request, set }, media, deps);
      if (set === request.set) result = rendered;
    } catch (error) {
      const isFinal = error instanceof OutputRefused || error instanceof Deferred;
      if (deps.signal.aborted || isFinal) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return result;
}

/** @throws Deferred, after storing what could be made */
async function renderAndStoreSet(
  recipes: readonly Recipe[],
  request: RenditionRequest,
  media: LocalMedia | UnsupportedReason,
  deps: JobDeps,
): Promise<Rendered> {
  const { mediaKey, set } = request;
  const { rendered, made } = await runTools(recipes, set, media, deps);
  await storeRenditions(made, mediaKey, deps.store, deps.signal);
  deferExceeded(rendered, deps.limits);
  report(request, rendered, deps);
  if (rendered.outcome === 'made') return rendered;
  const ofSet = recipesOf(set, request).filter((recipe) => subsetOf(set, recipe) === set);
  await reportNotShown(request, ofSet, rendered.why, deps);
  const notMade = recipes.filter((recipe) => !made.some((each) => each.recipe === recipe));
  const note = noteFor(rendered.why);
  if (note) await noteUnsupported(deps.store, mediaKey, notMade, { why: note, tools: deps.tools });
  return rendered;
}

// @throws ToolFailed, OutputRefused, or an Error of the disk
async function runTools(
  recipes: readonly Recipe[],
  set: RenditionSet,
  media: LocalMedia | UnsupportedReason,
  { limits, scratchDir, maxPixels, signal, onProgress }: JobDeps,
): Promise<{ readonly rendered: Rendered; readonly made: readonly RenditionFile[] }> {
  if (typeof media === 'string') return { rendered: unsupported(media), made: [] };
  const withPath = <R extends Recipe>(recipe: R) => {
    return { recipe, path: join(scratchDir, `${recipe.name}.${recipe.extension}`) };
  };
  if (set !== 'film' || !isVideo(media)) {
    const { pictures: budget, still: stillBudget, animationPixels } = limits;
    const options = { scratchDir, maxPixels, signal, budget, stillBudget, animationPixels };
    return renderPictures(media, recipes.filter(isPictureRecipe).map(withPath), options);
  }
  const video = withPath(videoRecipe);
  const { video: budget, estimatedSeconds } = limits;
  const options = { maxPixels, signal, budget, estimatedSeconds, onProgress };
  const rendered = await renderVideo(media, video.path, options);
  return { rendered, made: rendered.outcome === 'made' ? [video] : [] };
}

/** @throws `error` if it fails the job */
async function replyToFailure(error: unknown, request: RenditionRequest, deps: RenderDeps): Promise<RenditionReply> {
  if (error instanceof OwnerBlocked) return report(request, { outcome: 'unsupported', why: 'owner_blocked' }, deps);
  if (error instanceof ToolStopped) await noteMissing(request, 'suspected', deps);
  if (!(error instanceof OutputRefused)) throw error;
  deps.events.outputRefused(request, error);
  const reply = report(request, unsupported('broken'), deps);
  await reportNotShown(request, recipesOf(request.set, request), 'broken', deps);
  await noteMissing(request, 'broken', deps);
  return reply;
}

function report(request: RenditionRequest, reply: RenditionReply, { events }: RenderDeps): RenditionReply {
  events.rendered(request, reply);
  return reply;
}

/** The outcome of a set once all is made that can be: earlier jobs noted the rest as impossible. */
function outcomeOf({ set }: RenditionRequest, { noted }: RenditionStatus): Rendered {
  const [recipe] = [...noted.keys()].filter((each) => subsetOf(set, each) === set);
  const why = recipe && noted.get(recipe);
  return why ? unsupported(why) : { outcome: 'made' };
}
