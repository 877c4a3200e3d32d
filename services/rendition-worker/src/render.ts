import { createWriteStream } from 'node:fs';
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { isVideo, type LocalMedia } from '@echodrop/media/input/local-media';
import { isPhoto, type MediaType } from '@echodrop/media/media-type';
import { type Recipe, type RenditionSet, recipesOf, setOf } from '@echodrop/media/recipes';
import { minVideoCostSeconds } from '@echodrop/media/render-video/render-video';
import type { Rendered } from '@echodrop/media/rendition-outcome';
import { ToolStopped } from '@echodrop/media/sandbox/bounded-process';
import { OutputRefused } from '@echodrop/media/sandbox/tool-output';
import { videoTracks } from '@echodrop/media/video-layout/ffprobe';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Deferred } from '@echodrop/queue/slower-lane';
import type { RenditionEvents } from './events.ts';
import { type LaneLimits, limitsOfEstimate } from './lane-limits.ts';
import { makeRenditions, type RenditionToMake } from './make-renditions.ts';
import { type Noted, standingOf, storeAll, withdrawFromRemoved } from './stored-renditions.ts';
import { isNoted, type NotedReason, noteUnsupported } from './unsupported-renditions.ts';
import { MediaRemoved, OwnerBlocked, whileWanted } from './while-wanted.ts';

interface Rendering {
  readonly store: ObjectStore;
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Their bytes are not even fetched. */
  readonly typesOff: ReadonlySet<MediaType>;
  readonly limits: LaneLimits;
  /** See toolsHash: what could not be made stands until it changes. */
  readonly tools: string;
  readonly events: RenditionEvents;
}

/**
 * The straight line: makes what is missing of a set of renditions, and puts it into the store. Media of which one cannot be made is an answer; the others are stored all the same.
 * If a tool leaves something else than renditions, the media is `broken`, and nothing of that set is stored. What was found `broken` or
 * `too_costly` is not tried again with the same tools.
 * @throws Deferred; MediaRemoved, also in the middle of the work; or what keeps us from rendering: StoreUnavailable, no room on the disk, a tool
 * that is missing or killed, or the signal's reason
 */
export async function render(
  question: RenditionRequest,
  signal: AbortSignal,
  rendering: Rendering,
): Promise<RenditionReply> {
  const { mediaKey, type, set } = question;
  const { store, events } = rendering;
  const recipes = recipesOf(set, type);
  if (recipes.length === 0) return { outcome: 'unsupported', why: 'no_picture' };
  const { missing, noted } = await standingOf(recipes, mediaKey, rendering);
  if (missing.length === 0) {
    await withdrawFromRemoved(mediaKey, store);
    return answerOf(set, noted);
  }
  if (rendering.typesOff.has(type)) {
    await withdrawFromRemoved(mediaKey, store);
    const off = { outcome: 'unsupported', why: 'type_off' } as const;
    events.rendered(question, off);
    return off;
  }
  try {
    const made = await whileWanted(question, store, signal, (wanted) =>
      makeMissing(missing, question, wanted, rendering),
    );
    return made.outcome === 'made' ? answerOf(set, noted) : made;
  } catch (error) {
    if (error instanceof OwnerBlocked) {
      const blocked = { outcome: 'unsupported', why: 'owner_blocked' } as const;
      events.rendered(question, blocked);
      return blocked;
    }
    // Once it may be the machine; media that brings it about again and again must not be begun each time.
    if (error instanceof ToolStopped) await noteMissing(question, 'stopped_tools', rendering);
    if (!(error instanceof OutputRefused)) throw error;
    const broken = { outcome: 'unsupported', why: 'broken' } as const;
    await noteMissing(question, broken.why, rendering);
    events.outputRefused(question, error);
    events.rendered(question, broken);
    return broken;
  } finally {
    await withdrawFromRemoved(mediaKey, store);
  }
}

/**
 * Notes that two workers died with the job. If that happens again within a week, its renditions are `too_costly`. Once it may have been
 * another job of theirs, or the machine.
 * @throws StoreUnavailable
 */
export async function noteDeadly(
  question: RenditionRequest,
  rendering: Pick<Rendering, 'store' | 'tools'>,
): Promise<void> {
  await noteMissing(question, 'killed_workers', rendering);
  await withdrawFromRemoved(question.mediaKey, rendering.store).catch((error: unknown) => {
    if (!(error instanceof MediaRemoved)) throw error;
  });
}

async function noteMissing(
  { mediaKey, type, set }: RenditionRequest,
  why: NotedReason,
  { store, tools }: Pick<Rendering, 'store' | 'tools'>,
): Promise<void> {
  const { missing } = await standingOf(recipesOf(set, type), mediaKey, { store, tools });
  await noteUnsupported(store, mediaKey, missing, { why, tools });
}

async function makeMissing(
  missing: readonly Recipe[],
  question: RenditionRequest,
  signal: AbortSignal,
  rendering: Rendering,
): Promise<Rendered> {
  const { mediaKey, type, set } = question;
  const { store, scratchDir, limits } = rendering;
  await using scratch = await mkdtempDisposable(join(scratchDir, 'job-'));
  const path = join(scratch.path, 'media');
  // Tools write here, and nowhere else.
  const out = join(scratch.path, 'out');
  await mkdir(out);
  const renditions = missing.map((recipe) => ({ recipe, path: join(out, fileNameOf(recipe)) }));

  await fetchMedia(store, mediaKey, path, signal);
  const media = isPhoto(type) ? { path, type } : { path, type, tracks: await videoTracks(path, type, signal) };
  // Its pictures wait too, unless a page asks for them: a hundred posters would hold up the next owner's video.
  const estimated = estimatedSeconds(media);
  const { estimatedSeconds: most = Number.POSITIVE_INFINITY } = limits.video;
  if (set === 'film' && limits.defers && estimated > most) throw new Deferred();
  const bounds = isVideo(media) ? limitsOfEstimate(limits, estimated) : limits;
  const making = { ...rendering, limits: bounds, scratchDir: out, signal };
  let answer: Rendered = { outcome: 'made' };
  let failure: { readonly error: unknown } | undefined;
  // The pictures of a video come first: the video may take minutes.
  for (const [part, wanted] of Map.groupBy(renditions, ({ recipe }) => setOf(recipe))) {
    try {
      const rendered = await makeSet({ ...question, set: part }, media, wanted, making);
      if (part === set) answer = rendered;
      else await withdrawFromRemoved(mediaKey, store);
    } catch (error) {
      const isEnd = [MediaRemoved, OutputRefused, Deferred].some((end) => error instanceof end);
      if (signal.aborted || isEnd) throw error;
      // A failure of the pictures fails the job, but does not cost it the video.
      failure = { error };
    }
  }
  if (failure) throw failure.error;
  return answer;
}

function estimatedSeconds(media: LocalMedia): number {
  return isVideo(media) && typeof media.tracks === 'object' ? minVideoCostSeconds(media.tracks, media.type) : 0;
}

/** @throws Deferred, once what could be made is stored */
async function makeSet(
  question: RenditionRequest,
  media: LocalMedia,
  wanted: readonly RenditionToMake[],
  { signal, ...rendering }: Rendering & { readonly signal: AbortSignal },
): Promise<Rendered> {
  const { mediaKey, set } = question;
  const { store, scratchDir, maxPixels, limits, tools, events } = rendering;
  const { rendered, made } = await makeRenditions(set, media, wanted, { scratchDir, maxPixels, signal, limits });
  await storeAll(made, mediaKey, store, signal);
  const why = rendered.outcome === 'unsupported' ? rendered.why : undefined;
  if (limits.defers && (why === 'too_costly' || why === 'timed_out')) throw new Deferred();
  if (why && isNoted(why)) {
    const others = wanted.filter((each) => !made.includes(each)).map(({ recipe }) => recipe);
    await noteUnsupported(store, mediaKey, others, { why, tools });
  }
  events.rendered(question, rendered);
  return rendered;
}

function answerOf(set: RenditionSet, noted: Noted): Rendered {
  const [recipe] = [...noted.keys()].filter((each) => setOf(each) === set);
  const why = recipe && noted.get(recipe);
  return why ? { outcome: 'unsupported', why } : { outcome: 'made' };
}

function fileNameOf({ name, extension }: Recipe): string {
  return `${name}.${extension}`;
}

async function fetchMedia(store: ObjectStore, mediaKey: string, path: string, signal: AbortSignal): Promise<void> {
  const reading = await store.read(mediaObjectKey(mediaKey), { signal });
  if (reading === undefined) throw new Error('the media is not in the store');
  await pipeline(reading.body, createWriteStream(path), { signal });
}
