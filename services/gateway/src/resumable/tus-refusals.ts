import { StateConflict } from '@echodrop/archive/resumable-uploads';
import { isTemporary } from '@echodrop/contracts/refusal-statuses-and-messages';
import { Refusal } from '../response/refusal-error.ts';

/** HEAD publishes an upload whose last request died. Tus clients begin again after any of its refusals but 423. */
export function ofHead(refusal: Refusal, method: string): Refusal {
  return method === 'HEAD' && isTemporary(refusal.reason) ? new Refusal('upload_locked') : refusal;
}

/** What a request of the protocol is refused with. Errors of the library are objects with a status; others are returned as they are. */
export function toRefusal(error: unknown): unknown {
  if (error instanceof StateConflict) return new Refusal('upload_locked', { cause: error });
  const { status_code: status } = error as { status_code?: number };
  return status === undefined ? error : refusalOf(status, error);
}

/** The refusal for a status of the library. */
export function refusalOf(status: number, cause?: unknown): Refusal {
  const reasons = {
    400: 'tus_malformed',
    403: 'tus_malformed',
    404: 'not_found',
    409: 'offset_conflict',
    410: 'upload_expired',
    413: 'media_too_large',
  } as const;
  return new Refusal(reasons[status as keyof typeof reasons] ?? 'unavailable', { cause });
}
