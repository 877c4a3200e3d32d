import { cannotHaveArrived, obstacleOf, RequestFailed, RequestRefused, ServiceUnreachable } from '../client-errors.ts';

// These functions say what a client concludes from a failed request: whether it may be repeated, and what it may have changed.

/** A response that is no success. `reason` is `unknown` unless the service sent it: a proxy knows no reasons. */
type Refusal = Pick<RequestRefused, 'status' | 'reason'>;

// Larger media go in pieces after a lost connection. For smaller ones, to send all bytes again costs less than two more requests. A form of this
// size passes where the smallest piece does.
const resumableAfterLossBytes = 2 ** 19;
// Faults of the media or its texts, which earlier attempts had too; and a published upload that was removed.
const settled = [400, 410, 413, 415, 422];
// A proxy may send these statuses for the size or the format of a body.
const maybeForBody = [400, 403, 413];

/** Whether the same request may succeed after this error of an attempt. */
export function isTemporaryFailure(error: unknown): boolean {
  if (error instanceof ServiceUnreachable) return obstacleOf(error) === undefined;
  return error instanceof RequestRefused && isTemporary(error);
}

/** Whether the same request may succeed later. */
export function isTemporary({ status, reason }: Refusal): boolean {
  // Proxies also respond with unregistered statuses, such as 499 (the body took too long) and 520 to 524.
  return (
    ['idempotency_key_in_use', 'provider_unavailable'].includes(reason) ||
    status >= 500 ||
    [408, 423, 429, 499].includes(status)
  );
}

/**
 * Whether an upload may be published although its last attempt was refused. Most refusals say nothing about earlier attempts: `before` is whether
 * one of these may have published it.
 */
export function mayBePublished({ status, reason }: Refusal, before: boolean): boolean {
  // A proxy knows nothing about earlier attempts.
  if (settled.includes(status) && reason !== 'unknown') return false;
  const isRefusal = status >= 400 && status < 500 && status !== 409;
  return before || !(isRefusal || reason === 'overloaded');
}

/**
 * Notes on the error of an attempt to upload whether the upload may be published. `before`: whether an earlier attempt may have published it.
 * @returns whether it may be
 */
export function noteDoubt(error: unknown, idempotencyKey: string, before: boolean): boolean {
  if (!(error instanceof RequestFailed)) return before;
  error.idempotencyKey = idempotencyKey;
  error.mayBePublished =
    error instanceof RequestRefused ? mayBePublished(error, before) : before || !cannotHaveArrived(error);
  return error.mayBePublished;
}

/** Whether an upload of media of this size that failed as a form may pass in pieces. */
export function mayPassInPieces(error: unknown, size: number): boolean {
  const isLarge = size > resumableAfterLossBytes;
  if (!(error instanceof RequestRefused)) return isLarge && isTemporaryFailure(error);
  if (error.reason !== 'unknown') return false;
  return maybeForBody.includes(error.status) || (isTemporary(error) && isLarge);
}

/** Whether only a form can carry an upload, because the service or a proxy refused to create a resumable one. */
export function needsForm({ status, reason }: Refusal): boolean {
  return [404, 405, 431].includes(status) || (reason === 'unknown' && [400, 403, 501].includes(status));
}

const maxTypeLength = 60;
const whereLimits = 'docs/host/tls.md#body-limits';

/** What a response with an error status means that the service did not send. `type`: its Content-Type. */
export function describeProxyResponse(status: number, type: string | null): string {
  const response = `status ${status}, ${type?.replace(/;.*/s, '').slice(0, maxTypeLength) || 'without a Content-Type'}`;
  if (status === 413)
    return `A proxy limits the size of requests, and refused one (${response}). Ask its operator to raise the limit to 65 MiB or more: ${whereLimits}.`;
  const advice = isTemporary({ status, reason: 'unknown' })
    ? 'Try again later.'
    : 'A proxy or firewall may be the cause: ask its operator.';
  return `Something other than the upload service responded (${response}). ${advice}`;
}
