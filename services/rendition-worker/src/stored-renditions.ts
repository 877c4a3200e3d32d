import type { Recipe } from '@echodrop/media/recipes';
import { openToolOutput, type ToolOutput } from '@echodrop/media/sandbox/tool-output';
import type { UnsupportedReason } from '@echodrop/media/unsupported';
import { listObjects, removeObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, renditionKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { RenditionToMake } from './make-renditions.ts';
import { notedReason } from './unsupported-renditions.ts';
import { MediaRemoved } from './while-wanted.ts';

export type Noted = ReadonlyMap<Recipe, UnsupportedReason>;

interface Standing {
  /** What is neither in the store nor noted. */
  readonly missing: readonly Recipe[];
  /** What is noted as impossible with these tools. */
  readonly noted: Noted;
}

/** How far the renditions of media are, by one look into the store. @throws StoreUnavailable */
export async function standingOf(
  recipes: readonly Recipe[],
  mediaKey: string,
  { store, tools }: { readonly store: ObjectStore; readonly tools: string },
): Promise<Standing> {
  const keys = new Set((await Array.fromAsync(listObjects(store, renditionsPrefixOf(mediaKey)))).map(({ key }) => key));
  const absent = recipes.filter((recipe) => !keys.has(renditionKey(mediaKey, recipe)));
  const noted = new Map<Recipe, UnsupportedReason>();
  for (const recipe of absent) {
    const why = notedReason(keys, mediaKey, recipe, tools);
    if (why) noted.set(recipe, why);
  }
  return { missing: absent.filter((recipe) => !noted.has(recipe)), noted };
}

/** Stores renditions that tools have made. @throws OutputRefused, before any is stored; StoreUnavailable, or the signal's reason */
export async function storeAll(
  renditions: readonly RenditionToMake[],
  mediaKey: string,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<void> {
  await using files = new AsyncDisposableStack();
  const checked: (readonly [Recipe, ToolOutput])[] = [];
  for (const { recipe, path } of renditions) {
    checked.push([recipe, files.use(await openToolOutput(path, recipe.extension))]);
  }
  for (const [recipe, output] of checked) {
    const { contentType } = recipe;
    // Another worker may have the same job, if this one was frozen: neither may take the other's back.
    const options = { signal, contentType, isReplacement: true };
    await store.put(renditionKey(mediaKey, recipe), output.stream(), options);
  }
}

/**
 * What is stored once the media was taken down is too late for its removal, which has passed. So a job looks at its end, however it ends, and
 * takes what earlier tries of it have left too.
 * @throws MediaRemoved, StoreUnavailable
 */
export async function withdrawFromRemoved(mediaKey: string, store: ObjectStore): Promise<void> {
  if (await store.stat(mediaObjectKey(mediaKey))) return;
  await removeObjects(store, renditionsPrefixOf(mediaKey));
  throw new MediaRemoved();
}
