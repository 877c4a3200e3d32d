import { OwnerBusy } from '@echodrop/contracts/probe';
import { type MessagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { CrowdedOut } from '@echodrop/object-store/object-store';

interface Circumstances {
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

type Values = Readonly<Record<string, string | number>>;
type PlaceholdersOf<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | PlaceholdersOf<Rest> : never;

/** The values of a message's placeholders, if it has any. They may come from the request. */
type ValuesOf<Text> = [PlaceholdersOf<Text>] extends [never]
  ? { readonly values?: undefined }
  : { readonly values: Readonly<Record<PlaceholdersOf<Text>, string | number>> };

/** Which of several messages a refusal has, and the values of its placeholders. */
type Chosen<Messages> = {
  [Name in keyof Messages]: { readonly message: Name } & ValuesOf<Messages[Name]>;
}[keyof Messages];

type OptionsOf<Messages> = Messages extends string
  ? [PlaceholdersOf<Messages>] extends [never]
    ? [options?: Circumstances]
    : [options: Circumstances & ValuesOf<Messages>]
  : [options: Circumstances & Chosen<Messages>];

const retryAfterSeconds = 5;

/** An error response to the client. */
export class Refusal<R extends Reason = Reason> extends Error {
  override readonly name = 'Refusal';
  readonly reason: R;
  /** Sent as `Retry-After` if a retry may help; by default with 423, 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  readonly sentence: string;
  /** Which of the messages of its reason the refusal has. */
  readonly variant: string | undefined;

  readonly status: number;

  constructor(reason: R, ...given: OptionsOf<MessagesOf<R>>) {
    const [options = {}] = given as [(Circumstances & { message?: string; values?: Values })?];
    super(reason, { cause: options.cause });
    this.reason = reason;
    const [status, messages]: readonly [number, string | Readonly<Record<string, string>>] = refusals[reason];
    this.status = status;
    this.variant = options.message;
    const template = typeof messages === 'string' ? messages : messages[options.message ?? ''];
    this.sentence = fill(template ?? '', options.values ?? {});
    const isTemporary = status === 423 || status === 429 || status === 503;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (isTemporary ? retryAfterSeconds : undefined);
  }
}

/** Whether text of a request can be part of a message: old clients split XML at angle brackets, or decode entities before they parse. */
export function isPlain(text: string): boolean {
  return /^[A-Za-z0-9 ,.;:/_+-]{1,200}$/.test(text);
}

/** 413 for a file of more than `maxBytes`. */
export function mediaTooLarge(maxBytes: number, cause?: unknown): Refusal {
  const limit = maxBytes % 2 ** 20 === 0 ? `${maxBytes / 2 ** 20} MiB` : `${maxBytes} bytes`;
  return new Refusal('media_too_large', { message: 'size', values: { limit }, cause });
}

function fill(template: string, values: Values): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = `${values[name]}`;
    return isPlain(value) ? value : 'malformed';
  });
}

/** The client disconnected; no response is possible. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Maps any error to a response: a Refusal as it is, anything else to `too_many_requests`, `overloaded` or `unavailable`. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // The service has not failed: the user's other uploads took the memory or the time.
  if ((error instanceof CrowdedOut && error.isOwnShare) || error instanceof OwnerBusy)
    return new Refusal('too_many_requests', { message: 'userUploads', cause: error });
  const reason = error instanceof CrowdedOut ? 'overloaded' : 'unavailable';
  return new Refusal(reason, { cause: error });
}
