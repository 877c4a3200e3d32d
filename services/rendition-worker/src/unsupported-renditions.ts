import { hash } from 'node:crypto';
import type { Recipe } from '@echodrop/media/rendition-recipes';
import type { ToolVersions } from '@echodrop/media/sandbox/prepare-tools';
import { listObjects } from '@echodrop/object-store/list-objects';
import { renditionKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

// Other reasons are cheap to determine again, or depend on settings.
const finalReasons = ['broken', 'too_costly'] as const;
// The machine or another job may be at fault. The second note within a week makes the media `too_costly`.
const suspectedReasons = ['timed_out', 'killed_workers', 'stopped_tools'] as const;
const suspectedMs = 7 * 24 * 60 * 60_000;

/** A reason that is noted in the store. */
export type NotedReason = (typeof finalReasons | typeof suspectedReasons)[number];

/** A hash of the tool versions and the pixel limit: other tools may succeed, so notes apply to one hash. */
export function toolsHash(versions: ToolVersions, maxPixels: number): string {
  return hash('sha256', JSON.stringify([versions, maxPixels])).slice(0, 16);
}

/** Whether `why` is noted, so that visits do not cause a retry each time. */
export function isNoted(why: string): why is NotedReason {
  return [...finalReasons, ...suspectedReasons].some((noted) => noted === why);
}

/**
 * Notes that renditions cannot be made with `tools`, each as an empty object whose key has the rendition's key, the reason and
 * the tools. It is removed with the renditions.
 * @throws StoreUnavailable
 */
export async function noteUnsupported(
  store: ObjectStore,
  mediaKey: string,
  recipes: readonly Recipe[],
  { why, tools }: { readonly why: NotedReason; readonly tools: string },
): Promise<void> {
  const note = async (recipe: Recipe, reason: NotedReason) => {
    const key = noteKey(mediaKey, recipe, reason, tools);
    // On a store that ignores conditions, each note would be the first.
    return (await store.stat(key)) ? 'exists' : store.putIfAbsent(key, Buffer.alloc(0));
  };
  const isSuspected = suspectedReasons.some((each) => each === why);
  if (isSuspected) await removeOldSuspicions(store, mediaKey);
  await Promise.all(
    recipes.map(async (recipe) => {
      const isRepeated = (await note(recipe, why)) === 'exists';
      if (isRepeated && isSuspected) await note(recipe, 'too_costly');
    }),
  );
}

async function removeOldSuspicions(store: ObjectStore, mediaKey: string): Promise<void> {
  const isSuspicion = (key: string) => suspectedReasons.some((why) => key.includes(`.${why}-`));
  for await (const { key, writtenAt } of listObjects(store, renditionsPrefixOf(mediaKey))) {
    if (isSuspicion(key) && Date.now() - writtenAt.getTime() > suspectedMs) await store.remove(key);
  }
}

/** The keys of the notes after which a rendition is not retried. */
export function finalNoteKeys(mediaKey: string, recipe: Recipe, tools: string): string[] {
  return finalReasons.map((why) => noteKey(mediaKey, recipe, why, tools));
}

/** The reason that is noted among `keys`. */
export function findNotedReason(keys: ReadonlySet<string>, mediaKey: string, recipe: Recipe, tools: string) {
  return finalReasons.find((why) => keys.has(noteKey(mediaKey, recipe, why, tools)));
}

function noteKey(mediaKey: string, recipe: Recipe, why: NotedReason, tools: string): string {
  return `${renditionKey(mediaKey, recipe)}.${why}-${tools}`;
}
