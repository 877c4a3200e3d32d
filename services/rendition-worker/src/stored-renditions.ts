import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { contentTypeOf } from '@echodrop/media/detect-media-type';
import type { UnsupportedReason } from '@echodrop/media/outcomes';
import { type Recipe, recipesOf } from '@echodrop/media/rendition-recipes';
import { openToolOutput, type ToolOutput } from '@echodrop/media/sandbox/tool-output';
import { listKeys, removeObjects } from '@echodrop/object-store/list-objects';
import { renditionKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isMediaRemoved, MediaRemoved } from './run-unless-removed.ts';
import { findNotedReason, type NotedReason, noteUnsupported } from './unsupported-renditions.ts';

/** What the status of renditions is read from. */
export interface StatusSource {
  readonly store: ObjectStore;
  /** The hash of the tools (`toolsHash`). */
  readonly tools: string;
}

export interface RenditionStatus {
  /** Renditions that are neither stored nor noted. */
  readonly missing: readonly Recipe[];
  /** Renditions that are noted as impossible with these tools. */
  readonly noted: ReadonlyMap<Recipe, UnsupportedReason>;
}

/** Reads from the store which renditions are missing. @throws StoreUnavailable */
export async function readStatus(
  recipes: readonly Recipe[],
  mediaKey: string,
  { store, tools }: StatusSource,
): Promise<RenditionStatus> {
  const keys = new Set(await Array.fromAsync(listKeys(store, renditionsPrefixOf(mediaKey))));
  const absent = recipes.filter((recipe) => !keys.has(renditionKey(mediaKey, recipe)));
  const noted = new Map<Recipe, UnsupportedReason>();
  for (const recipe of absent) {
    const why = findNotedReason(keys, mediaKey, recipe, tools);
    if (why) noted.set(recipe, why);
  }
  return { missing: absent.filter((recipe) => !noted.has(recipe)), noted };
}

/** Notes that the missing renditions of a set cannot be made. @throws StoreUnavailable */
export async function noteMissing(request: RenditionRequest, why: NotedReason, deps: StatusSource): Promise<void> {
  const { mediaKey, set } = request;
  const { missing } = await readStatus(recipesOf(set, request), mediaKey, deps);
  await noteUnsupported(deps.store, mediaKey, missing, { why, tools: deps.tools });
}

/** A rendition, and the path of its file. */
export interface RenditionFile {
  readonly recipe: Recipe;
  readonly path: string;
}

/** Stores the output of tools. @throws OutputRefused, before any is stored; StoreUnavailable, or the signal's reason */
export async function storeRenditions(
  renditions: readonly RenditionFile[],
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
    // Another worker may have the same job if this one was frozen: both may write.
    const options = { signal, contentType: contentTypeOf(recipe.extension), isReplacement: true };
    await store.put(renditionKey(mediaKey, recipe), output.stream(), options);
  }
}

/**
 * Removes all renditions if the media was removed during the job: the removal missed later ones. If the store is unavailable, the outcome of
 * the job is kept, and the sweep removes them. @throws MediaRemoved
 */
export async function discardIfRemoved(mediaKey: string, store: ObjectStore): Promise<void> {
  const isRemoved = await isMediaRemoved(mediaKey, store).catch(() => false);
  if (!isRemoved) return;
  await removeObjects(store, renditionsPrefixOf(mediaKey)).catch(() => {});
  throw new MediaRemoved();
}
