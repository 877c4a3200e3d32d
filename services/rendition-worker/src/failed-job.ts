import type { RenditionRequest } from '@echodrop/contracts/rendition';
import type { RenditionReason } from '@echodrop/media/outcomes';
import { type Recipe, recipesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { NotShown, RenditionEvents } from './events.ts';
import { discardIfRemoved, noteMissing, readStatus, type StatusSource } from './stored-renditions.ts';

type EndDeps = StatusSource & { readonly events: Pick<RenditionEvents, 'notShown'> };

/** Reports what visitors do not see after a failed job, and notes if its workers died. Never rejects. */
export async function endFailedJob(request: RenditionRequest, hasKilledWorkers: boolean, deps: EndDeps): Promise<void> {
  // An unreachable store has its own alert.
  await reportNotShown(request, recipesOf(request.set, request), 'failed', deps).catch(() => {});
  if (!hasKilledWorkers) return;
  const note = noteMissing(request, 'suspected', deps);
  await note.then(() => discardIfRemoved(request.mediaKey, deps.store)).catch(() => {});
}

/**
 * Reports what visitors do not see of an upload after a job that could not make some of `recipes`: its pictures if none is stored, and its video.
 * Renditions that an earlier job noted as impossible do not count again, and the picture in full size never counts.
 * @throws StoreUnavailable
 */
export async function reportNotShown(
  request: RenditionRequest,
  recipes: readonly Recipe[],
  why: RenditionReason | 'failed',
  deps: EndDeps,
): Promise<void> {
  const { missing, noted } = await readStatus(recipes, request.mediaKey, deps);
  const stored = recipes.filter((recipe) => !missing.includes(recipe) && !noted.has(recipe));
  const wanted = new Set(missing.filter(({ name }) => name !== 'full').map(kindOf));
  const lacking = wanted.difference(new Set(stored.map(kindOf)));
  const isRemoved = lacking.size > 0 && !(await deps.store.stat(mediaObjectKey(request.mediaKey)));
  if (isRemoved) return;
  for (const each of lacking) deps.events.notShown(request, each, why);
}

function kindOf({ name }: Recipe): NotShown {
  return name === videoRecipe.name ? 'video' : 'picture';
}
