import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import type { MediaType } from '@echodrop/media/detect-media-type';
import type { Rendered } from '@echodrop/media/outcomes';
import { type Recipe, type RenditionSet, recipesOf, subsetOf } from '@echodrop/media/rendition-recipes';
import { ToolStopped } from '@echodrop/media/sandbox/run-tool';
import { OutputRefused } from '@echodrop/media/sandbox/tool-output';
import type { LocalMedia } from '@echodrop/media/video-layout/ffprobe';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Deferred } from '@echodrop/queue/slow-queue';
import type { RenditionEvents } from './events.ts';
import { fetchMedia } from './fetch-media.ts';
import { isCostlyVideo, isKnownToBeCostly, type LaneLimits } from './lanes.ts';
import { makeRenditions } from './make-renditions.ts';
import { reportNotShown } from './not-shown.ts';
import { MediaRemoved, OwnerBlocked, runUnlessRemoved } from './run-unless-removed.ts';
import {
  discardIfRemoved,
  noteMissing,
  type RenditionStatus,
  readStatus,
  storeRenditions,
} from './stored-renditions.ts';
import { noteFor, noteUnsupported } from './unsupported-renditions.ts';

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
  const { store, limits, typesOff } = deps;
  const recipes = recipesOf(set, request);
  if (recipes.length === 0) return { outcome: 'unsupported', why: 'no_picture' };
  const { missing, noted } = await readStatus(recipes, mediaKey, deps);
  try {
    if (missing.length === 0) return outcomeOf(set, noted);
    if (typesOff.has(type)) return report(request, { outcome: 'unsupported', why: 'type_off' }, deps);
    if (isKnownToBeCostly(request, limits)) throw new Deferred();
    return await runUnlessRemoved(request, store, signal, async (signal) => {
      await using scratch = await mkdtempDisposable(join(deps.scratchDir, 'job-'));
      const media = await fetchMedia(request, join(scratch.path, 'media'), store, signal);
      // The pictures of a video move with it, unless a page requests them: a hundred posters would delay the next owner's video.
      if (set === 'film' && isCostlyVideo(media, limits)) throw new Deferred();
      // Tools write to this folder only.
      const scratchDir = join(scratch.path, 'out');
      await mkdir(scratchDir);
      const rendered = await renderSets(missing, request, media, { ...deps, scratchDir, signal });
      return rendered.outcome === 'made' ? outcomeOf(set, noted) : rendered;
    });
  } catch (error) {
    return await replyToFailure(error, request, deps);
  } finally {
    await discardIfRemoved(mediaKey, store);
  }
}

// The pictures of a video come first, as the video may take minutes. Their failure fails the job, but the video is still made.
async function renderSets(
  missing: readonly Recipe[],
  request: RenditionRequest,
  media: LocalMedia,
  deps: RenderDeps & { readonly signal: AbortSignal },
): Promise<Rendered> {
  let result: Rendered = { outcome: 'made' };
  const failures: unknown[] = [];
  for (const [set, recipes] of Map.groupBy(missing, (recipe) => subsetOf(request.set, recipe))) {
    try {
      const rendered = await renderSet(recipes, { ...request, set }, media, deps);
      if (set === request.set) result = rendered;
      else await discardIfRemoved(request.mediaKey, deps.store);
    } catch (error) {
      const isFinal = [MediaRemoved, OutputRefused, Deferred].some((end) => error instanceof end);
      if (deps.signal.aborted || isFinal) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return result;
}

/** @throws Deferred, after storing what could be made */
async function renderSet(
  recipes: readonly Recipe[],
  request: RenditionRequest,
  media: LocalMedia,
  { signal, ...deps }: RenderDeps & { readonly signal: AbortSignal },
): Promise<Rendered> {
  const { mediaKey, set } = request;
  const { store, scratchDir, maxPixels, limits, onProgress, tools } = deps;
  const wanted = recipes.map((recipe) => ({ recipe, path: join(scratchDir, `${recipe.name}.${recipe.extension}`) }));
  const options = { scratchDir, maxPixels, signal, limits, onProgress };
  const { rendered, made } = await makeRenditions(set, media, wanted, options);
  await storeRenditions(made, mediaKey, store, signal);
  const why = rendered.outcome === 'unsupported' ? rendered.why : undefined;
  if (limits.canDefer && (why === 'too_costly' || why === 'timed_out')) throw new Deferred();
  report(request, rendered, deps);
  if (!why) return rendered;
  const ofSet = recipesOf(set, request).filter((recipe) => subsetOf(set, recipe) === set);
  await reportNotShown(request, why, deps, ofSet);
  const note = noteFor(why);
  const notMade = wanted.filter((each) => !made.includes(each)).map(({ recipe }) => recipe);
  if (note) await noteUnsupported(store, mediaKey, notMade, { why: note, tools });
  return rendered;
}

/** @throws `error` if it fails the job */
async function replyToFailure(error: unknown, request: RenditionRequest, deps: RenderDeps): Promise<RenditionReply> {
  if (error instanceof OwnerBlocked) return report(request, { outcome: 'unsupported', why: 'owner_blocked' }, deps);
  if (error instanceof ToolStopped) await noteMissing(request, 'suspected', deps);
  if (!(error instanceof OutputRefused)) throw error;
  deps.events.outputRefused(request, error);
  const reply = report(request, { outcome: 'unsupported', why: 'broken' }, deps);
  await reportNotShown(request, 'broken', deps);
  await noteMissing(request, 'broken', deps);
  return reply;
}

function report(request: RenditionRequest, reply: RenditionReply, { events }: RenderDeps): RenditionReply {
  events.rendered(request, reply);
  return reply;
}

/** The outcome of a set once all is made that can be: earlier jobs noted the rest as impossible. */
function outcomeOf(set: RenditionSet, noted: RenditionStatus['noted']): Rendered {
  const [recipe] = [...noted.keys()].filter((each) => subsetOf(set, each) === set);
  const why = recipe && noted.get(recipe);
  return why ? { outcome: 'unsupported', why } : { outcome: 'made' };
}
