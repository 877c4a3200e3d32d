/** The service answered an upload with anything but a record. `reason` is its word for it (`credentials_refused`, ...). */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
  /** The HTTP status. */
  readonly status: number;
  readonly reason: string;
  /** How long the service asks to be left alone, where it says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, { reason, message }: { reason: string; message: string }, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
