import type { RenditionRequest } from '@echodrop/contracts/rendition';
import type { RenditionReason } from '@echodrop/media/outcomes';
import { type Recipe, recipesOf } from '@echodrop/media/rendition-recipes';
import type { RenditionEvents } from './events.ts';
import { discardIfRemoved, findNotShown, noteMissing, type StatusSource } from './stored-renditions.ts';

type EndDeps = StatusSource & { readonly events: Pick<RenditionEvents, 'notShown'> };

/** Reports what visitors do not see after a failed job, and notes if its workers died. Never rejects. */
export async function endFailedJob(request: RenditionRequest, hasKilledWorkers: boolean, deps: EndDeps): Promise<void> {
  // An unreachable store has its own alert.
  await reportNotShown(request, recipesOf(request.set, request), 'failed', deps).catch(() => {});
  if (!hasKilledWorkers) return;
  const note = noteMissing(request, 'suspected', deps);
  await note.then(() => discardIfRemoved(request.mediaKey, deps.store)).catch(() => {});
}

/** Reports what visitors do not see after a job that could not make some of `recipes`. @throws StoreUnavailable */
export async function reportNotShown(
  request: RenditionRequest,
  recipes: readonly Recipe[],
  why: RenditionReason | 'failed',
  deps: EndDeps,
): Promise<void> {
  for (const missing of await findNotShown(recipes, request.mediaKey, deps))
    deps.events.notShown(request, missing, why);
}
