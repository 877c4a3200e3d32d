import type { RenditionRequest } from '@echodrop/contracts/rendition';
import type { RenditionEvents } from './events.ts';
import { reportNotShown } from './not-shown.ts';
import { discardIfRemoved, noteMissing, type StatusSource } from './stored-renditions.ts';

/** Reports what visitors do not see after a failed job, and notes if its workers died. Never rejects. */
export async function endFailedJob(
  request: RenditionRequest,
  hasKilledWorkers: boolean,
  deps: StatusSource & { readonly events: Pick<RenditionEvents, 'notShown' | 'noteFailed'> },
): Promise<void> {
  // An unreachable store has its own alert.
  await reportNotShown(request, 'failed', deps).catch(() => {});
  if (!hasKilledWorkers) return;
  try {
    await noteMissing(request, 'suspected', deps);
    await discardIfRemoved(request.mediaKey, deps.store).catch(() => {});
  } catch (error) {
    deps.events.noteFailed(request, error);
  }
}
