import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { type Recipe, type RenditionSet, recipesOf, setOf } from '@echodrop/media/rendition-recipes';

/** What visitors do not see: any picture of an upload, or its video. */
export type NotShown = 'picture' | 'video';

/** What an upload may lack without this set. */
export function missingWithout(set: RenditionSet): NotShown | undefined {
  if (set === 'whole') return undefined;
  return set === 'film' ? 'video' : 'picture';
}

/** What an upload lacks if renditions of a set are `missing`; undefined if there is something to show. */
export function findNotShown(
  { set, type }: Pick<RenditionRequest, 'set' | 'type'>,
  missing: readonly Recipe[],
): NotShown | undefined {
  const ofSet = (recipes: readonly Recipe[]) => recipes.filter((recipe) => setOf(recipe) === set).length;
  return ofSet(missing) === ofSet(recipesOf(set, type)) ? missingWithout(set) : undefined;
}
