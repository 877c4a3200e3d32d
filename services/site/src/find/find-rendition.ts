import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionClient, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { type Recipe, setOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { StoredObject } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import type { RenditionWait, SiteEvents } from '../events.ts';
import type { MediaSources, PublishedMedia } from './find-media.ts';

/** `not_ready`: still in progress, or the queue is unavailable. `unsupported`: it cannot be made from this media. */
export type NoRendition = 'not_ready' | 'unsupported';

export type RenditionState = 'ready' | NoRendition;

export interface RenditionSources extends MediaSources {
  readonly events: SiteEvents;
  readonly renditions: Pick<RenditionClient, 'make'>;
  /** Called before a reader waits for a rendition. */
  readonly onWait: () => void;
}

// A video takes minutes, so there is no point in a longer wait.
const defaultWaitMs = (recipe: Recipe) => (recipe === videoRecipe ? 1000 : 4000);

/** Finds a rendition in the store; requests a missing one and waits at most `waitMs`, a few seconds by default. @throws StoreUnavailable, or the signal's reason */
export async function findRendition(
  record: PublishedMedia,
  recipe: Recipe,
  sources: RenditionSources,
  waitMs?: number,
): Promise<StoredObject | NoRendition> {
  return (await storedRendition(record, recipe, sources)) ?? makeRendition(record, recipe, sources, waitMs);
}

/** Finds a rendition in the store only. @throws StoreUnavailable, or the signal's reason */
export async function storedRendition(
  { mediaKey }: PublishedMedia,
  recipe: Recipe,
  { store, memory, signal }: MediaSources,
): Promise<StoredObject | undefined> {
  const key = renditionKey(mediaKey, recipe);
  return memory.find(
    key,
    signal,
    () => store.stat(key),
    (object) => object && 0,
  );
}

/** Requests a rendition and waits at most `waitMs`; the job continues afterwards. @throws StoreUnavailable, or the signal's reason */
export async function makeRendition(
  record: PublishedMedia,
  recipe: Recipe,
  sources: RenditionSources,
  waitMs = defaultWaitMs(recipe),
): Promise<StoredObject | NoRendition> {
  if (recipe === videoRecipe && isPhoto(record.type)) return 'unsupported';
  const { events, renditions, signal, onWait } = sources;
  onWait();
  const began = performance.now();
  const report = (outcome: RenditionWait['outcome'], error?: unknown) => {
    const seconds = Math.round(performance.now() - began) / 1000;
    events.renditionAwaited({ mediaKey: record.mediaKey, recipe: recipe.name, outcome, seconds, error });
  };
  try {
    const media = requestedMedia(record);
    const { outcome } = await renditions.make({ ...media, set: setOf(recipe, media) }, { waitMs, signal });
    report(outcome === 'made' ? 'created' : outcome);
    // Even if one rendition of a set is unsupported, others exist.
    return (await storedRendition(record, recipe, sources)) ?? (outcome === 'made' ? 'not_ready' : outcome);
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
    report('not_ready', error);
    return 'not_ready';
  }
}

/** How jobs describe the media of a record. */
export function requestedMedia(record: PublishedMedia): Omit<RenditionRequest, 'set'> {
  const { mediaKey, type, width, height, size: bytes } = record;
  return { mediaKey, type, pixels: width * height, bytes, owner: ownerHash(record) };
}
