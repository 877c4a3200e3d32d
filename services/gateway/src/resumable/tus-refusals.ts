import { StateConflict } from '@echodrop/archive/resumable-uploads';
import { isTemporary } from '@echodrop/contracts/refusal-statuses-and-messages';
import { mediaTooLarge, Refusal } from '../response/refusal-error.ts';

/** HEAD publishes an upload whose last request died. Tus clients begin again after any of its refusals but 423. */
export function ofHead(refusal: Refusal, method: string): Refusal {
  return method === 'HEAD' && isTemporary(refusal.reason) ? new Refusal('upload_locked') : refusal;
}

/** What a request of the protocol is refused with. Errors of the library are objects with a status; others are returned as they are. */
export function toRefusal(error: unknown, maxMediaBytes: number): unknown {
  if (error instanceof StateConflict) return new Refusal('upload_locked', { cause: error });
  const { status_code: status, body } = error as { status_code?: number; body?: string };
  return status === undefined ? error : refusalOf({ status, text: body, cause: error }, maxMediaBytes);
}

const headers = ['Upload-Offset', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Concat'];

/** The refusal for a status of the library, and its text. `unavailable` counts as our failure: a stranger must not cause it. */
export function refusalOf(
  { status, text = '', cause }: { status: number; text?: string | undefined; cause?: unknown },
  maxMediaBytes: number,
): Refusal {
  switch (status) {
    case 400:
    case 403:
      return malformed(text, cause);
    case 404:
      return new Refusal('not_found', { message: 'resumable', cause });
    case 409:
      return new Refusal('offset_conflict', { cause });
    case 410:
      return new Refusal('upload_expired', { cause });
    case 412:
      return new Refusal('tus_version', { cause });
    case 413:
      // The library's text for more bytes than Upload-Length.
      return text.startsWith("upload's size")
        ? new Refusal('media_too_large', { message: 'declared', cause })
        : mediaTooLarge(maxMediaBytes, cause);
    case 501:
      // Of the extensions that the library knows, only concatenation is missing here. A 5xx would be retried in vain.
      return new Refusal('tus_malformed', { message: 'concatenation', cause });
    case 500:
      return new Refusal('unavailable', { cause });
    // None of this release of the library (tus-refusals.test.ts).
    default:
      return status < 500 ? malformed(text, cause) : new Refusal('unavailable', { cause });
  }
}

function malformed(text: string, cause: unknown): Refusal {
  const name = headers.find((each) => text.toLowerCase().includes(each.toLowerCase()));
  if (name === undefined) return new Refusal('tus_malformed', { message: 'headers', cause });
  if (name === 'Upload-Metadata') return new Refusal('tus_malformed', { message: 'metadata', cause });
  return new Refusal('tus_malformed', { message: 'header', values: { name }, cause });
}
