import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionClient, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { type Recipe, setOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { StoredObject } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import type { RenditionWait, SiteEvents } from '../events.ts';
import type { MediaSources, PublishedMedia } from './find-media.ts';
import { findObject, type ObjectSources } from './find-object.ts';

/** `not_ready`: still in progress, or the queue is unavailable. `unsupported`: it cannot be made from this media. */
export type FoundRendition =
  | { readonly state: 'ready'; readonly object: StoredObject }
  | { readonly state: 'not_ready' | 'unsupported' };

export type RenditionState = FoundRendition['state'];

export interface RenditionSources extends MediaSources {
  readonly events: SiteEvents;
  readonly renditions: Pick<RenditionClient, 'make'>;
}

// A video takes minutes, so there is no point in a longer wait.
const defaultWaitMs = (recipe: Recipe) => (recipe === videoRecipe ? 1000 : 4000);

/** Finds a rendition in the store; requests a missing one and waits at most `waitMs`, a few seconds by default. @throws StoreUnavailable, or the signal's reason */
export async function findRendition(
  record: PublishedMedia,
  recipe: Recipe,
  sources: RenditionSources,
  signal: AbortSignal,
  waitMs?: number,
): Promise<FoundRendition> {
  const object = await storedRendition(record, recipe, sources, signal);
  return object ? { state: 'ready', object } : makeRendition(record, recipe, sources, signal, waitMs);
}

/** Finds a rendition in the store only. @throws StoreUnavailable, or the signal's reason */
export async function storedRendition(
  { mediaKey }: PublishedMedia,
  recipe: Recipe,
  sources: ObjectSources,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  return findObject(renditionKey(mediaKey, recipe), sources, signal);
}

/** Requests a rendition and waits at most `waitMs`; the job continues afterwards. @throws StoreUnavailable, or the signal's reason */
export async function makeRendition(
  record: PublishedMedia,
  recipe: Recipe,
  sources: RenditionSources,
  signal: AbortSignal,
  waitMs = defaultWaitMs(recipe),
): Promise<FoundRendition> {
  if (recipe === videoRecipe && isPhoto(record.type)) return { state: 'unsupported' };
  const outcome = await requestRendition(record, recipe, sources, { waitMs, signal });
  if (outcome === 'not_ready') return { state: 'not_ready' };
  // Even if one rendition of a set is unsupported, others exist.
  const object = await storedRendition(record, recipe, sources, signal);
  if (object) return { state: 'ready', object };
  return { state: outcome === 'created' ? 'not_ready' : 'unsupported' };
}

/** How jobs describe the media of a record. */
export function requestedMedia(record: PublishedMedia): Omit<RenditionRequest, 'set'> {
  const { mediaKey, type, width, height, size: bytes } = record;
  return { mediaKey, type, pixels: width * height, bytes, owner: ownerHash(record) };
}

async function requestRendition(
  record: PublishedMedia,
  recipe: Recipe,
  { renditions, events }: RenditionSources,
  waiting: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<RenditionWait['outcome']> {
  const { mediaKey } = record;
  const began = performance.now();
  const report = (outcome: RenditionWait['outcome'], error?: unknown) => {
    const seconds = Math.round(performance.now() - began) / 1000;
    events.renditionAwaited({ mediaKey, recipe: recipe.name, outcome, seconds, error });
    return outcome;
  };
  try {
    const media = requestedMedia(record);
    const request = { ...media, set: setOf(recipe, media) };
    const { outcome } = await renditions.make(request, waiting);
    return report(outcome === 'made' ? 'created' : outcome);
  } catch (error) {
    if (error instanceof QueueUnavailable) return report('not_ready', error);
    throw error;
  }
}
