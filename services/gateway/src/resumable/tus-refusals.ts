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
  const { status_code: status, body } = error as { status_code?: number; body?: string };
  return status === undefined ? error : refusalOf(status, body, error);
}

const headers = ['Upload-Offset', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Concat'];

/** The refusal for a status of the library, and its text. */
export function refusalOf(status: number, text = '', cause?: unknown): Refusal {
  if (status === 400 || status === 403) {
    const name = headers.find((each) => text.toLowerCase().includes(each.toLowerCase()));
    return new Refusal('tus_malformed', { ...(name ? { values: { name } } : { message: 'headers' }), cause });
  }
  const reasons = {
    409: 'offset_conflict',
    410: 'upload_expired',
    413: 'media_too_large',
  } as const;
  // Of the extensions that the library knows, only concatenation is missing here. A 5xx would be retried in vain.
  if (status === 501) return new Refusal('tus_malformed', { message: 'concatenation', cause });
  if (status === 404) return new Refusal('not_found', { message: 'resumable', cause });
  return new Refusal(reasons[status as keyof typeof reasons] ?? 'unavailable', { cause });
}
