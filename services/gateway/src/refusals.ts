import type { MediaType } from '@echodrop/media/media-type';
import type { UnsupportedReason } from '@echodrop/media/unsupported';
import { CrowdedOut } from '@echodrop/object-store/object-store';

/** What is wrong with media that is not taken; `{type}` stands for the type that its bytes say. */
export const unsupportedSentences = {
  unknown_type: 'The media is no photo or video of a type that we take.',
  type_off: 'This server does not take {type} files.',
  broken: 'The photo or video is damaged or incomplete.',
  no_picture: 'The video shows no picture; sound alone is not taken.',
  codec: 'The photo or video uses a coding that we do not read; of videos, H.264 with AAC sound is one that we do.',
  too_many_pixels: 'The photo or video has more pixels than we take.',
  too_costly: 'The photo or video takes too much work to read; saving it anew with another program may help.',
} as const satisfies Record<UnsupportedReason, string>;

/** Media that came before its credentials, and is larger than what is held without them. */
export const secretsFirst = 'Media this large must come after the four credential fields.';

/** Every answer that is not 200: its status and the sentence that a client reads. A sentence never echoes input. */
export const refusals = {
  parameter_missing: [400, 'key, message and media are all required, and media must not be empty.'],
  query_malformed: [400, 'count must be a number from 1 to 100, and after what a page before this one gave as next.'],
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
  not_yours: [403, 'This upload is of another user.'],
  caller_blocked: [403, 'Uploads of this user are not taken.'],
  application_blocked: [403, 'Uploads of this application are not taken.'],
  not_found: [404, 'There is nothing here.'],
  method_not_allowed: [405, 'This address does not take that method.'],
  idempotency_key_in_use: [409, 'An upload with this Idempotency-Key may still be running.'],
  too_slow: [408, 'The upload came too slowly.'],
  removed: [410, 'This upload was published, and has been removed.'],
  media_too_large: [413, 'The media is larger than we take.'],
  media_unsupported: [415, unsupportedSentences.unknown_type],
  expectation_failed: [417, 'The only expectation that we know is 100-continue.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used for another upload.'],
  too_many_requests: [429, 'Upload rate or concurrency limit exceeded.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  overloaded: [503, 'There is more to do than we can; please try again soon.'],
  unavailable: [503, 'A part of the service is down; please try again soon.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

export type Reason = keyof typeof refusals;

/** All sentences that a reason may be told in. */
export function sentencesOf(reason: Reason): readonly string[] {
  if (reason === 'media_unsupported') return Object.values(unsupportedSentences);
  return [refusals[reason][1], ...(reason === 'media_too_large' ? [secretsFirst] : [])];
}

interface RefusalOptions {
  /** Where a reason has several. */
  readonly sentence?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An upload ends with this answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: Reason;
  /** Told as `Retry-After`, where trying again may help. */
  readonly retryAfterSeconds: number | undefined;
  readonly sentence: string;

  constructor(reason: Reason, { sentence = refusals[reason][1], retryAfterSeconds, cause }: RefusalOptions = {}) {
    super(reason, { cause });
    this.reason = reason;
    this.sentence = sentence;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return refusals[this.reason][0];
  }
}

/** 415 with what is wrong with the media. `type` is what its bytes say; media of an unknown type has none. */
export function mediaUnsupported(why: UnsupportedReason, type: MediaType | undefined, cause: unknown): Refusal {
  const sentence = unsupportedSentences[why].replace('{type}', type ?? 'such');
  return new Refusal('media_unsupported', { sentence, cause });
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
