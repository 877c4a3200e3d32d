import { hash } from 'node:crypto';
import type { Recipe } from '@echodrop/media/recipes';
import type { ToolVersions } from '@echodrop/media/tool-versions';
import type { RenditionReason } from '@echodrop/media/unsupported';
import { renditionObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

// What the others say costs little to find out again, or depends on settings, or on how busy the machine was.
const lasting = ['broken', 'too_costly'] as const;
type LastingReason = (typeof lasting)[number];
// What may be the machine's fault: once it is noted again the media is `too_costly`.
const suspicious = ['timed_out', 'killed_workers', 'stopped_tools'] as const;
/** What is noted of a rendition that was not made. */
export type NotedReason = LastingReason | (typeof suspicious)[number];

/** A hash of the versions of the tools here and of their bound on pixels: what cannot be made with some may be made with others. */
export function toolsHash(versions: ToolVersions, maxPixels: number): string {
  return hash('sha256', JSON.stringify([versions, maxPixels])).slice(0, 16);
}

/** Whether `why` is noted, so that visitors cannot have it tried again and again. */
export function isNoted(why: RenditionReason): why is RenditionReason & NotedReason {
  return [...lasting, ...suspicious].some((noted) => noted === why);
}

/**
 * Notes beside the renditions of media that these cannot be made with `tools`: for each an empty object, whose key is the rendition's, the
 * reason and the tools. It goes with the renditions.
 * @throws StoreUnavailable
 */
export async function noteUnsupported(
  store: ObjectStore,
  mediaKey: string,
  recipes: readonly Recipe[],
  { why, tools }: { readonly why: NotedReason; readonly tools: string },
): Promise<void> {
  const note = (recipe: Recipe, reason: NotedReason) =>
    store.putIfAbsent(noteObject(mediaKey, recipe, reason, tools), Buffer.alloc(0));
  await Promise.all(
    recipes.map(async (recipe) => {
      const isAgain = (await note(recipe, why)) === 'exists';
      if (isAgain && suspicious.some((each) => each === why)) await note(recipe, 'too_costly');
    }),
  );
}

/** Why the rendition cannot be made with `tools`, if that is noted among `keys`. */
export function notedReason(
  keys: ReadonlySet<string>,
  mediaKey: string,
  recipe: Recipe,
  tools: string,
): LastingReason | undefined {
  return lasting.find((why) => keys.has(noteObject(mediaKey, recipe, why, tools)));
}

function noteObject(mediaKey: string, recipe: Recipe, why: NotedReason, tools: string): string {
  return `${renditionObject(mediaKey, recipe)}.${why}-${tools}`;
}
