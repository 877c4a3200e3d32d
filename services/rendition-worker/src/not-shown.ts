import type { RenditionRequest } from '@echodrop/contracts/rendition';
import type { RenditionReason } from '@echodrop/media/outcomes';
import { type Recipe, recipesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { NotShown, RenditionEvents } from './events.ts';
import { readStatus, type StatusSource } from './stored-renditions.ts';

/**
 * Reports what visitors do not see after a job that could not make `recipes`, which are all of its set unless given.
 * @throws StoreUnavailable
 */
export async function reportNotShown(
  request: RenditionRequest,
  why: RenditionReason | 'failed',
  { events, ...source }: StatusSource & { readonly events: Pick<RenditionEvents, 'notShown'> },
  recipes = recipesOf(request.set, request),
): Promise<void> {
  for (const missing of await findNotShown(request.mediaKey, recipes, source)) events.notShown(request, missing, why);
}

// An upload lacks its pictures if none is stored, and its video. Renditions that an earlier job noted as impossible do not count again, and
// the picture in full size never counts.
async function findNotShown(
  mediaKey: string,
  recipes: readonly Recipe[],
  source: StatusSource,
): Promise<readonly NotShown[]> {
  const { missing, noted } = await readStatus(recipes, mediaKey, source);
  const stored = recipes.filter((recipe) => !missing.includes(recipe) && !noted.has(recipe));
  const lacking = new Set(missing.filter(({ name }) => name !== 'full').map(kindOf)).difference(
    new Set(stored.map(kindOf)),
  );
  const isRemoved = lacking.size > 0 && !(await source.store.stat(mediaObjectKey(mediaKey)));
  return isRemoved ? [] : [...lacking];
}

function kindOf({ name }: Recipe): NotShown {
  return name === videoRecipe.name ? 'video' : 'picture';
}
