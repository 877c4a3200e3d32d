import { createWriteStream } from 'node:fs';
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import type { Rendered, RenditionReason } from '@echodrop/media/outcomes';
import { minVideoCostSeconds } from '@echodrop/media/render-video/video-cost';
import { type Recipe, type RenditionSet, recipesOf, subsetOf } from '@echodrop/media/rendition-recipes';
import { ToolStopped } from '@echodrop/media/sandbox/run-tool';
import { OutputRefused } from '@echodrop/media/sandbox/tool-output';
import { isVideo, type LocalMedia, videoTracks } from '@echodrop/media/video-layout/ffprobe';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Deferred } from '@echodrop/queue/slower-lane';
import type { RenditionEvents } from './events.ts';
import { exceedsLane, isKnownToBeCostly, type LaneLimits, lanesToMove, limitsForVideo } from './lanes.ts';
import { makeRenditions, type RenditionToMake } from './make-renditions.ts';
import { findNotShown } from './not-shown.ts';
import type { Overruns } from './overruns.ts';
import { MediaRemoved, OwnerBlocked, runUnlessRemoved } from './run-unless-removed.ts';
import { discardIfRemoved, type RenditionStatus, readStatus, storeRenditions } from './stored-renditions.ts';
import { isNoted, type NotedReason, noteUnsupported } from './unsupported-renditions.ts';

interface RenderDeps {
  readonly store: ObjectStore;
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Media of these types is not fetched. */
  readonly typesOff: ReadonlySet<MediaType>;
  readonly limits: LaneLimits;
  /** Gets the share of a transcoding that is done, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** In this lane. */
  readonly overruns: Overruns;
  /** See toolsHash. */
  readonly tools: string;
  readonly events: RenditionEvents;
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
  const { store, events } = deps;
  const recipes = recipesOf(set, request);
  if (recipes.length === 0) return { outcome: 'unsupported', why: 'no_picture' };
  const { missing, noted } = await readStatus(recipes, mediaKey, deps);
  if (missing.length === 0) {
    await discardIfRemoved(mediaKey, store);
    return outcomeOf(set, noted);
  }
  const report = (reply: RenditionReply) => {
    events.rendered(request, reply);
    return reply;
  };
  try {
    if (deps.typesOff.has(type)) return report({ outcome: 'unsupported', why: 'type_off' });
    if (isKnownToBeCostly(request, deps)) throw new Deferred();
    const rendered = await runUnlessRemoved(request, store, signal, (signal) =>
      renderMissing(missing, request, signal, deps),
    );
    return rendered.outcome === 'made' ? outcomeOf(set, noted) : rendered;
  } catch (error) {
    if (error instanceof OwnerBlocked) return report({ outcome: 'unsupported', why: 'owner_blocked' });
    // The machine may be at fault the first time, but not if the media stops tools again and again.
    if (error instanceof ToolStopped) await noteMissing(request, 'stopped_tools', deps);
    if (!(error instanceof OutputRefused)) throw error;
    events.outputRefused(request, error);
    const reply = report({ outcome: 'unsupported', why: 'broken' });
    await reportNotShown(request, 'broken', deps);
    await noteMissing(request, 'broken', deps);
    return reply;
  } finally {
    await discardIfRemoved(mediaKey, store);
  }
}

/** Reports what visitors do not see, after a job that could not make `recipes`: all of its set unless given. @throws StoreUnavailable */
export async function reportNotShown(
  request: RenditionRequest,
  why: RenditionReason | 'failed',
  { events, ...deps }: Pick<RenderDeps, 'store' | 'tools' | 'events'>,
  recipes = recipesOf(request.set, request),
): Promise<void> {
  for (const missing of await findNotShown(request.mediaKey, recipes, deps)) events.notShown(request, missing, why);
}

/**
 * Notes that two workers died with the job. The second note within a week makes its renditions `too_costly`; once, another
 * job or the machine may be at fault.
 * @throws StoreUnavailable
 */
export async function noteWorkerDeaths(
  request: RenditionRequest,
  deps: Pick<RenderDeps, 'store' | 'tools'>,
): Promise<void> {
  await noteMissing(request, 'killed_workers', deps);
  await discardIfRemoved(request.mediaKey, deps.store).catch(() => {});
}

async function noteMissing(
  request: RenditionRequest,
  why: NotedReason,
  { store, tools }: Pick<RenderDeps, 'store' | 'tools'>,
): Promise<void> {
  const { mediaKey, set } = request;
  const { missing } = await readStatus(recipesOf(set, request), mediaKey, { store, tools });
  await noteUnsupported(store, mediaKey, missing, { why, tools });
}

async function renderMissing(
  missing: readonly Recipe[],
  request: RenditionRequest,
  signal: AbortSignal,
  deps: RenderDeps,
): Promise<Rendered> {
  const { mediaKey, type, set } = request;
  const { store, limits } = deps;
  await using scratch = await mkdtempDisposable(join(deps.scratchDir, 'job-'));
  const path = join(scratch.path, 'media');
  // Tools write to this folder only.
  const scratchDir = join(scratch.path, 'out');
  await mkdir(scratchDir);
  const renditions = missing.map((recipe) => ({
    recipe,
    path: join(scratchDir, `${recipe.name}.${recipe.extension}`),
  }));

  await fetchMedia(store, mediaKey, path, signal);
  const media = isPhoto(type) ? { path, type } : { path, type, tracks: await videoTracks(path, type, signal) };
  // Its pictures are deferred too, unless a page requests them: a hundred posters would delay the next owner's video.
  const estimatedSeconds =
    isVideo(media) && typeof media.tracks === 'object' ? minVideoCostSeconds(media.tracks, media.type) : 0;
  if (set === 'film' && exceedsLane(limits, estimatedSeconds)) throw new Deferred(lanesToMove(estimatedSeconds));
  const mediaLimits = isVideo(media) ? limitsForVideo(limits, estimatedSeconds) : limits;
  let result: Rendered = { outcome: 'made' };
  let failure: { readonly error: unknown } | undefined;
  // The pictures of a video come first, as the video may take minutes.
  for (const [subset, toMake] of Map.groupBy(renditions, ({ recipe }) => subsetOf(set, recipe))) {
    try {
      const subsetDeps = { ...deps, limits: mediaLimits, scratchDir, signal };
      const rendered = await renderSet({ ...request, set: subset }, media, toMake, subsetDeps);
      if (subset === set) result = rendered;
      else await discardIfRemoved(mediaKey, store);
    } catch (error) {
      const isFinal = [MediaRemoved, OutputRefused, Deferred].some((end) => error instanceof end);
      if (signal.aborted || isFinal) throw error;
      // A failure of the pictures fails the job, but the video is still made.
      failure = { error };
    }
  }
  if (failure) throw failure.error;
  return result;
}

/** @throws Deferred, after storing what could be made */
async function renderSet(
  request: RenditionRequest,
  media: LocalMedia,
  toMake: readonly RenditionToMake[],
  { signal, ...deps }: RenderDeps & { readonly signal: AbortSignal },
): Promise<Rendered> {
  const { mediaKey, set } = request;
  const { store, scratchDir, maxPixels, limits, onProgress, overruns, tools, events } = deps;
  const options = { scratchDir, maxPixels, signal, limits, onProgress };
  const { rendered, made } = await makeRenditions(set, media, toMake, options);
  await storeRenditions(made, mediaKey, store, signal);
  const why = rendered.outcome === 'unsupported' ? rendered.why : undefined;
  if (why === 'timed_out' && !isPhoto(request.type)) overruns.note(request.owner);
  if (limits.canDefer && (why === 'too_costly' || why === 'timed_out')) throw new Deferred();
  events.rendered(request, rendered);
  if (!why) return rendered;
  const ofSet = recipesOf(set, request).filter((recipe) => subsetOf(set, recipe) === set);
  await reportNotShown(request, why, { store, tools, events }, ofSet);
  const notMade = toMake.filter((each) => !made.includes(each)).map(({ recipe }) => recipe);
  if (isNoted(why)) await noteUnsupported(store, mediaKey, notMade, { why, tools });
  return rendered;
}

function outcomeOf(set: RenditionSet, noted: RenditionStatus['noted']): Rendered {
  const [recipe] = [...noted.keys()].filter((each) => subsetOf(set, each) === set);
  const why = recipe && noted.get(recipe);
  return why ? { outcome: 'unsupported', why } : { outcome: 'made' };
}

async function fetchMedia(store: ObjectStore, mediaKey: string, path: string, signal: AbortSignal): Promise<void> {
  const object = await store.read(mediaObjectKey(mediaKey), { signal });
  if (object === undefined) throw new Error('media not found in object store');
  await pipeline(object.body, createWriteStream(path), { signal });
}
