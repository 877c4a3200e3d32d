import type { RefusalReason } from './refusal-reasons.ts';

interface RefusalDetails {
  readonly status: number;
  readonly reason: RefusalReason;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestId?: string | undefined;
}

/** A failed request. */
class RequestFailed extends Error {
  /** Of an upload: whether this or an earlier attempt may have published it. A repeat with `idempotencyKey` then returns its record. */
  mayBePublished: boolean | undefined;
  /** Of an upload. */
  idempotencyKey: string | undefined;
}

/** The service responded without what was requested. Rely on `reason`; messages may change. */
export class RequestRefused extends RequestFailed {
  override readonly name = 'RequestRefused';
  /** The HTTP status. */
  readonly status: number;
  readonly reason: RefusalReason;
  /** From Retry-After, if present. */
  readonly retryAfterSeconds: number | undefined;
  /** Quote it to the operator. */
  readonly requestId: string | undefined;

  constructor({ status, reason, message, retryAfterSeconds, requestId }: RefusalDetails) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
  }
}

/** A response that is too large, or that reports success without a record. */
export class UnreadableResponse extends RequestFailed {
  override readonly name = 'UnreadableResponse';
}

/** No response arrived; `cause` says why. */
export class ServiceUnreachable extends RequestFailed {
  override readonly name = 'ServiceUnreachable';
}

// No connection was made.
const unsentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** Whether a request failed before it reached the service, or was refused before any work: then it changed nothing. */
export function isUndone(error: unknown): boolean {
  if (!(error instanceof RequestRefused)) return error instanceof Error && isUnsent(error);
  return error.status < 500 || ['overloaded', 'provider_unavailable'].includes(error.reason);
}

function isUnsent(error: Error): boolean {
  for (let each: unknown = error; each instanceof Error; each = each.cause)
    if (unsentCodes.includes(String(Reflect.get(each, 'code')))) return true;
  return false;
}

// Faults of the media or its texts, which earlier attempts had too; and a published upload that was removed.
const settled = [400, 410, 413, 415, 422];

/**
 * Notes on the error of an attempt to upload whether the upload may be published. `before`: whether an earlier attempt may have published it.
 * @returns whether it may be
 */
export function noteDoubt(error: unknown, idempotencyKey: string, before: boolean): boolean {
  if (!(error instanceof RequestFailed)) return before;
  error.idempotencyKey = idempotencyKey;
  error.mayBePublished = mayBePublished(error, before);
  return error.mayBePublished;
}

function mayBePublished(error: RequestFailed, before: boolean): boolean {
  if (!(error instanceof RequestRefused)) return before || !isUnsent(error);
  const { status, reason } = error;
  // A proxy, whose refusals have no reason, knows nothing about earlier attempts.
  if (settled.includes(status) && reason !== 'unknown') return false;
  const isRefusal = status >= 400 && status < 500 && status !== 409;
  return before || !(isRefusal || reason === 'overloaded');
}
