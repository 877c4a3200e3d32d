import {
  credentialsRefusedSentences,
  malformedSentences,
  type Reason,
  refusals,
  unsupportedSentences,
} from '@echodrop/contracts/refusal-statuses-and-messages';
import type { MediaType } from '@echodrop/media/detect-media-type';
import type { UnsupportedReason } from '@echodrop/media/outcomes';
import { CrowdedOut } from '@echodrop/object-store/object-store';

interface RefusalOptions {
  /** For a reason with several messages. */
  readonly sentence?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

const retryAfterSeconds = 5;

/** An error response to the client. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: Reason;
  /** Sent as `Retry-After` if a retry may help; by default with 423, 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  readonly sentence: string;

  readonly status: number;

  constructor(reason: Reason, options: RefusalOptions = {}) {
    super(reason, { cause: options.cause });
    this.reason = reason;
    const [status, sentence] = refusals[reason];
    this.status = status;
    this.sentence = options.sentence ?? sentence;
    const isTemporary = status === 423 || status === 429 || status === 503;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (isTemporary ? retryAfterSeconds : undefined);
  }
}

/** 415 with the reason. `type` is the detected type, undefined if unknown. */
export function mediaUnsupported(why: UnsupportedReason, type: MediaType | undefined): Refusal {
  const sentence = unsupportedSentences[why].replace('{type}', type ?? 'such');
  return new Refusal('media_unsupported', { sentence });
}

/** 401 with the reason. With another `cause` or none, the provider rejected the credentials. */
export function credentialsRefused(cause?: string): Refusal {
  const why = cause === 'unsupported_scheme' || cause === 'replay' ? cause : 'provider';
  return new Refusal('credentials_refused', { sentence: credentialsRefusedSentences[why] });
}

/** 400 with the reason. */
export function formMalformed(why: keyof typeof malformedSentences, cause?: unknown): Refusal {
  return new Refusal('form_malformed', { sentence: malformedSentences[why], cause });
}

/** The client disconnected; no response is possible. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Maps any error to a response: a Refusal as it is, anything else to `overloaded` or `unavailable`. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const reason = error instanceof CrowdedOut ? 'overloaded' : 'unavailable';
  return new Refusal(reason, { cause: error });
}
