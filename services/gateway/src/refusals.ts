import { CrowdedOut } from '@echodrop/object-store/object-store';

/** Every answer that is not 200: its status and the sentence that a client reads. A sentence never echoes input. */
export const refusals = {
  parameter_missing: [400, 'key, message and media are all required, and media must not be empty.'],
  idempotency_key_malformed: [400, 'Idempotency-Key must be a quoted string of 1 to 255 printable ASCII characters.'],
  request_malformed: [400, 'The request is not well-formed HTTP.'],
  form_malformed: [
    400,
    'The body is not a whole, well-formed multipart form, or has a parameter twice, or one that is too long.',
  ],
  credentials_missing: [401, 'The credentials of the user are missing.'],
  credentials_refused: [401, 'The identity provider does not accept these credentials.'],
  provider_unknown: [401, 'This identity provider is not one that we ask.'],
  provider_unavailable: [401, 'The identity provider cannot be asked at the moment.'],
  api_key_unknown: [401, 'The API key is not known.'],
  not_found: [404, 'There is nothing here.'],
  method_not_allowed: [405, 'This address does not take that method.'],
  idempotency_key_in_use: [409, 'An upload with this Idempotency-Key may still be running.'],
  too_slow: [408, 'The upload came too slowly.'],
  media_too_large: [413, 'The media is larger than we take.'],
  media_unsupported: [415, 'The media is no photo or video that we read.'],
  expectation_failed: [417, 'The only expectation that we know is 100-continue.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used for another upload.'],
  too_many_requests: [429, 'There are more uploads of this user or this application than we take.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  overloaded: [503, 'There is more to do than we can; please try again soon.'],
  unavailable: [503, 'A part of the service is down; please try again soon.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

export type Reason = keyof typeof refusals;

/** An upload ends with this answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: Reason;
  /** Told as `Retry-After`, where trying again may help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: Reason, { retryAfterSeconds, cause }: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(reason, { cause });
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return refusals[this.reason][0];
  }

  get sentence(): string {
    return refusals[this.reason][1];
  }
}

/** The client went away; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What a client is told of any error: a refusal as it is, whatever else as `overloaded` or `unavailable`. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const reason = error instanceof CrowdedOut ? 'overloaded' : 'unavailable';
  return new Refusal(reason, { retryAfterSeconds: 5, cause: error });
}
