import { type MessageName, messagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { CrowdedOut } from '@echodrop/object-store/object-store';

interface RefusalOptions<R extends Reason> {
  /** Of a reason with several messages; the default is the first. */
  readonly message?: MessageName<R>;
  /** For the placeholders of the message. Values may come from the request. */
  readonly values?: Readonly<Record<string, string | number>>;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

const retryAfterSeconds = 5;

/** An error response to the client. */
export class Refusal<R extends Reason = Reason> extends Error {
  override readonly name = 'Refusal';
  readonly reason: R;
  /** Sent as `Retry-After` if a retry may help; by default with 423, 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  readonly sentence: string;

  readonly status: number;

  constructor(reason: R, options: RefusalOptions<R> = {}) {
    super(reason, { cause: options.cause });
    this.reason = reason;
    const [status] = refusals[reason];
    const messages = messagesOf(reason);
    const [name = ''] = options.message === undefined ? Object.keys(messages) : [options.message];
    this.status = status;
    this.sentence = fill(messages[name] ?? '', options.values ?? {});
    const isTemporary = status === 423 || status === 429 || status === 503;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (isTemporary ? retryAfterSeconds : undefined);
  }
}

/** Whether text of a request can be part of a message: old clients split responses at brackets, or decode entities before they parse. */
export function isPlain(text: string): boolean {
  return /^[A-Za-z0-9 ,.;:/_'`+-]{1,200}$/.test(text);
}

/** 413 for a file of more than `maxBytes`. */
export function mediaTooLarge(maxBytes: number): Refusal {
  const limit = maxBytes % 2 ** 20 === 0 ? `${maxBytes / 2 ** 20} MiB` : `${maxBytes} bytes`;
  return new Refusal('media_too_large', { values: { limit } });
}

function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) return placeholder;
    return isPlain(`${value}`) ? `${value}` : 'malformed';
  });
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
