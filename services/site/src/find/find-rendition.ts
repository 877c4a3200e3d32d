import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionClient } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/media-type';
import { type Recipe, setOf, videoRecipe } from '@echodrop/media/recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { StoredObject } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import type { SiteEvents, Wait } from '../events.ts';
import type { MediaSources, PublishedMedia } from './find-media.ts';

/** `not_ready`: it is being made, or cannot be asked for now. `unsupported`: none can be made of this media. */
export type FoundRendition =
  | { readonly state: 'ready'; readonly object: StoredObject }
  | { readonly state: 'not_ready' }
  | { readonly state: 'unsupported' };

export type RenditionState = FoundRendition['state'];

export interface RenditionSources extends MediaSources {
  readonly events: SiteEvents;
  readonly renditions: Pick<RenditionClient, 'make'>;
}

// A video takes minutes: who asks early may as well be told so at once.
const patienceMs = { pictures: 4000, whole: 4000, film: 1000 };

/**
 * Looks for a rendition in the store; one that is missing is asked for, and waited for a few seconds.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function findRendition(
  record: PublishedMedia,
  recipe: Recipe,
  sources: RenditionSources,
  signal: AbortSignal,
): Promise<FoundRendition> {
  const object = await storedRendition(record, recipe, sources);
  return object ? { state: 'ready', object } : makeRendition(record, recipe, sources, signal);
}

/** Looks for a rendition in the store, and no further. @throws StoreUnavailable */
export function storedRendition(
  { mediaKey }: PublishedMedia,
  recipe: Recipe,
  { store }: Pick<RenditionSources, 'store'>,
): Promise<StoredObject | undefined> {
  return store.stat(renditionKey(mediaKey, recipe));
}

/**
 * Asks for a rendition that is missing, and waits for it a few seconds, or `waitMs`; it is made all the same.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function makeRendition(
  record: PublishedMedia,
  recipe: Recipe,
  sources: RenditionSources,
  signal: AbortSignal,
  waitMs = patienceMs[setOf(recipe)],
): Promise<FoundRendition> {
  if (recipe === videoRecipe && isPhoto(record.type)) return { state: 'unsupported' };
  const outcome = await asked(record, recipe, sources, { waitMs, signal });
  if (outcome === 'not_ready') return { state: 'not_ready' };
  // Where one of a set cannot be made, others are.
  const object = await storedRendition(record, recipe, sources);
  if (object) return { state: 'ready', object };
  return { state: outcome === 'made' ? 'not_ready' : 'unsupported' };
}

async function asked(
  record: PublishedMedia,
  recipe: Recipe,
  { renditions, events }: RenditionSources,
  waiting: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<Wait['outcome']> {
  const { mediaKey, type } = record;
  const began = performance.now();
  const told = (outcome: Wait['outcome'], error?: unknown) => {
    events.renditionAwaited({
      mediaKey,
      recipe: recipe.name,
      outcome,
      seconds: (performance.now() - began) / 1000,
      error,
    });
    return outcome;
  };
  try {
    const { outcome } = await renditions.make(
      { mediaKey, type, set: setOf(recipe), owner: ownerHash(record) },
      waiting,
    );
    return told(outcome);
  } catch (error) {
    if (error instanceof QueueUnavailable) return told('not_ready', error);
    throw error;
  }
}
