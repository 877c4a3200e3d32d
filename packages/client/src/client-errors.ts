import type { RefusalReason } from './refusal-reasons.ts';

interface RefusalDetails {
  readonly status: number;
  readonly reason: RefusalReason;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestId?: string | undefined;
}

/** The service responded without what was requested. Rely on `reason`; messages may change. */
export class RequestRefused extends Error {
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

/** A response that is too large, or that reports success without a record. The media may have been published. */
export class UnreadableResponse extends Error {
  override readonly name = 'UnreadableResponse';
}

/** No response arrived; `cause` says why. The media may have been published. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable';
}
