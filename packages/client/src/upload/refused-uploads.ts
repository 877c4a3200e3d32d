/** A response that is no success. `reason` is undefined unless the service sent it: a proxy knows no reasons. */
export interface Refusal {
  readonly status: number;
  readonly reason: string | undefined;
}

interface ProxyResponse {
  readonly status: number;
  /** Its Content-Type. */
  readonly type: string | null;
  /** The size of the file or piece that was sent. */
  readonly bytes?: number | undefined;
}

// Larger media go in pieces after a lost connection. For smaller ones, to send all bytes again costs less than two more requests. A form of this
// size passes where the smallest piece does.
const resumableAfterLossBytes = 2 ** 19;
// Faults of the media or its texts, which earlier attempts had too; and a published upload that was removed.
const settled = [400, 410, 413, 415, 422];
// A proxy may send them for the size or the format of a body.
const maybeForBody = [400, 403, 413];

/** Whether the same request may succeed later. */
export function isTemporary({ status, reason = '' }: Refusal): boolean {
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
  if (settled.includes(status) && reason !== undefined) return false;
  const isRefusal = status >= 400 && status < 500 && status !== 409;
  return before || !(isRefusal || reason === 'overloaded');
}

/** Whether an upload that failed as a form may pass in pieces. `refusal` is undefined if the connection was lost; `size` is that of the media. */
export function mayPassInPieces(refusal: Refusal | undefined, size: number): boolean {
  if (refusal === undefined) return size > resumableAfterLossBytes;
  if (refusal.reason !== undefined) return false;
  return maybeForBody.includes(refusal.status) || (isTemporary(refusal) && size > resumableAfterLossBytes);
}

/** Whether only a form can carry an upload, because the service or a proxy refused to create a resumable one. */
export function needsForm({ status, reason }: Refusal): boolean {
  return [404, 405, 431].includes(status) || (reason === undefined && [400, 403, 501].includes(status));
}

const maxTypeLength = 60;
const whereLimits = 'docs/host/tls.md#body-limits';

/** What it may mean that the smallest piece, of `bytes`, got no response, although the requests before it did. */
export function describeLostPiece(bytes: number): string {
  return `No response to a request with ${bytes} bytes of the file, although smaller requests pass. A proxy may limit the size of requests: ${whereLimits}.`;
}

/** What a response with an error status means that the service did not send. */
export function describeProxyResponse({ status, type, bytes }: ProxyResponse): string {
  const response = `status ${status}, ${type?.replace(/;.*/s, '').slice(0, maxTypeLength) || 'without a Content-Type'}`;
  if (status !== 413) {
    const advice = isTemporary({ status, reason: undefined })
      ? 'Try again later.'
      : 'A proxy or firewall may be the cause: ask its operator.';
    return `Something other than the upload service responded (${response}). ${advice}`;
  }
  const size = bytes === undefined ? '' : ` with ${bytes} bytes of the file`;
  const advice = `Ask its operator to raise the limit to 65 MiB or more: ${whereLimits}.`;
  return `A proxy limits the size of requests, and refused one${size} (${response}). ${advice}`;
}
