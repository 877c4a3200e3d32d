import { type Recipe, videoRecipe } from '@echodrop/media/rendition-recipes';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import { readStatus } from './stored-renditions.ts';

/** What visitors do not see: any picture of an upload, or its video. */
export type NotShown = 'picture' | 'video';

/**
 * What an upload lacks after a job for `recipes`: its pictures if none is stored, and its video. Renditions that an earlier job noted as
 * impossible do not count again, and the picture in full size never counts. @throws StoreUnavailable
 */
export async function findNotShown(
  mediaKey: string,
  recipes: readonly Recipe[],
  deps: Parameters<typeof readStatus>[2],
): Promise<readonly NotShown[]> {
  const { missing, noted } = await readStatus(recipes, mediaKey, deps);
  const stored = recipes.filter((recipe) => !missing.includes(recipe) && !noted.has(recipe));
  const lacking = new Set(missing.filter(({ name }) => name !== 'full').map(kindOf)).difference(
    new Set(stored.map(kindOf)),
  );
  const isRemoved = lacking.size > 0 && !(await deps.store.stat(mediaObjectKey(mediaKey)));
  if (isRemoved) return [];
  return [...lacking];
}

function kindOf({ name }: Recipe): NotShown {
  return name === videoRecipe.name ? 'video' : 'picture';
}
