/** The service responded without a record. `reason` is machine-readable (`credentials_refused`, ...). */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
  /** The HTTP status. */
  readonly status: number;
  readonly reason: string;
  /** From Retry-After, if present. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, { reason, message }: { reason: string; message: string }, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
