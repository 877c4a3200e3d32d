import { type Recipe, setOf } from '@echodrop/media/rendition-recipes';
import { readStatus } from './stored-renditions.ts';

/** What visitors do not see: any picture of an upload, or its video. */
export type NotShown = 'picture' | 'video';

/** What an upload lacks if no rendition among `recipes` of a set is stored. The picture in full size is extra. @throws StoreUnavailable */
export async function findNotShown(
  mediaKey: string,
  recipes: readonly Recipe[],
  deps: Parameters<typeof readStatus>[2],
): Promise<readonly NotShown[]> {
  const { missing, noted } = await readStatus(recipes, mediaKey, deps);
  const stored = recipes.filter((recipe) => !missing.includes(recipe) && !noted.has(recipe));
  const lacking = new Set(recipes.map(setOf)).difference(new Set(stored.map(setOf)));
  return [...lacking].filter((set) => set !== 'whole').map((set) => (set === 'film' ? 'video' : 'picture'));
}
