import type { RefusalReason } from './refusal-reasons.ts';
import { mayBePublished, type Refusal } from './upload/refused-uploads.ts';

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

/** The advice if another program may have responded, such as the site. */
export const checkAddress =
  'Check the address of the upload service: the option `service`, on the command line --url. The site with the pages may have another address.';

/** An UnreadableResponse from the address of the service: another program may have sent it. */
export function notFromService(what: string): UnreadableResponse {
  return new UnreadableResponse(`${what} ${checkAddress}`);
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

/** Whether no connection was made. */
export function isUnsent(error: unknown): boolean {
  return (
    obstacleOf(error) !== undefined ||
    causesOf(error).some((each) => unsentCodes.includes(String(Reflect.get(each, 'code'))))
  );
}

// By the codes of OpenSSL. A fault of TLS that can follow the handshake, such as a bad record, is none.
const obstacles: readonly (readonly [RegExp, string])[] = [
  [
    /^[A-Z_]*(?:CERT|SIGNATURE)[A-Z_]*$/,
    'The certificate of the upload service is not accepted. Check the address, or add its authority with NODE_EXTRA_CA_CERTS.',
  ],
  [
    /^ERR_SSL_\w*(?:VERSION|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE|UNRECOGNIZED_NAME|PACKET_LENGTH_TOO_LONG)/,
    'The TLS handshake with the upload service failed. Check the address and its port.',
  ],
  [/^unexpected redirect$/, `The upload service redirects, which is not followed. ${checkAddress}`],
  [/^bad port$/, 'fetch blocks the port of the upload service. Use another port.'],
];

/** What keeps a request from the service at each attempt; undefined if nothing does. */
export function obstacleOf(error: unknown): string | undefined {
  // undici has no code for a port or a redirect.
  const names = causesOf(error).map((each) => String(Reflect.get(each, 'code') ?? each.message));
  return obstacles.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1];
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** As the rules of all clients see it. */
export function refusalOf({ status, reason }: RequestRefused): Refusal {
  return { status, reason: reason === 'unknown' ? undefined : reason };
}

/**
 * Notes on the error of an attempt to upload whether the upload may be published. `before`: whether an earlier attempt may have published it.
 * @returns whether it may be
 */
export function noteDoubt(error: unknown, idempotencyKey: string, before: boolean): boolean {
  if (!(error instanceof RequestFailed)) return before;
  error.idempotencyKey = idempotencyKey;
  const isRefusal = error instanceof RequestRefused;
  error.mayBePublished = isRefusal ? mayBePublished(refusalOf(error), before) : before || !isUnsent(error);
  return error.mayBePublished;
}
