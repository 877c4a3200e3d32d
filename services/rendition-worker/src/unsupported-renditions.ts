import { hash } from 'node:crypto';
import type { RenditionReason } from '@echodrop/media/outcomes';
import type { Recipe } from '@echodrop/media/rendition-recipes';
import type { ToolVersions } from '@echodrop/media/sandbox/prepare-tools';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

// Only these reasons are noted. Others are cheap to determine again, or depend on settings.
const finalReasons = ['broken', 'too_costly'] as const;

/**
 * A reason that is noted in the store. `suspected`: a time-out, a stopped tool or two dead workers, for which the machine or another job may
 * be at fault.
 */
export type NotedReason = (typeof finalReasons)[number] | 'suspected';

/** A hash of the tool versions and the pixel limit: other tools may succeed, so notes apply to one hash. */
export function toolsHash(versions: ToolVersions, maxPixels: number): string {
  return hash('sha256', JSON.stringify([versions, maxPixels])).slice(0, 16);
}

/** What is noted about renditions that were not made, so that visits do not cause a retry each time. */
export function noteFor(why: RenditionReason): NotedReason | undefined {
  return why === 'timed_out' ? 'suspected' : finalReasons.find((final) => final === why);
}

/**
 * Notes that renditions cannot be made with `tools`, each as an empty object whose key has the rendition's key, the reason and
 * the tools. It is removed with the renditions. A second suspicion becomes `too_costly`.
 * @throws StoreUnavailable
 */
export async function noteUnsupported(
  store: ObjectStore,
  mediaKey: string,
  recipes: readonly Recipe[],
  { why, tools }: { readonly why: NotedReason; readonly tools: string },
): Promise<void> {
  await Promise.all(
    recipes.map(async (recipe) => {
      const key = noteKey(mediaKey, recipe, why, tools);
      const isSecond = why === 'suspected' && (await store.stat(key)) !== undefined;
      await store.putIfAbsent(isSecond ? noteKey(mediaKey, recipe, 'too_costly', tools) : key, Buffer.alloc(0));
    }),
  );
}

/** The reason that is noted among `keys`, after which a rendition is not retried. */
export function findNotedReason(keys: ReadonlySet<string>, mediaKey: string, recipe: Recipe, tools: string) {
  return finalReasons.find((why) => keys.has(noteKey(mediaKey, recipe, why, tools)));
}

function noteKey(mediaKey: string, recipe: Recipe, why: NotedReason, tools: string): string {
  return `${renditionKey(mediaKey, recipe)}.${why}-${tools}`;
}
