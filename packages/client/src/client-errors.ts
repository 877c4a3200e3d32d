/** A reason in docs/reference/errors.md; `unknown` for a response without one, such as a proxy's. */
export type RefusalReason = string;

interface RefusalDetails {
  readonly status: number;
  readonly reason: RefusalReason;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestId?: string | undefined;
}

/** A failed request. */
export class RequestFailed extends Error {
  /** Whether this or an earlier attempt may have published an upload. A repeat with `idempotencyKey` then returns its record. */
  mayBePublished: boolean | undefined;
  /** The idempotency key of an upload. */
  idempotencyKey: string | undefined;
}

/** The service responded without what was requested. Rely on `reason`; messages may change. */
export class RequestRefused extends RequestFailed {
  override readonly name = 'RequestRefused';
  /** The HTTP status. */
  readonly status: number;
  readonly reason: RefusalReason;
  /** The seconds in Retry-After, if present. */
  readonly retryAfterSeconds: number | undefined;
  /** The id of the request. The operator can find the request by it. */
  readonly requestId: string | undefined;

  constructor({ status, reason, message, retryAfterSeconds, requestId }: RefusalDetails) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
  }
}

/** A response that is too large, is a web page, follows a redirect, or reports success without a record. */
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

/** Whether the service cannot have processed the request: there was no connection, or an obstacle before it. */
export function cannotHaveArrived(error: unknown): boolean {
  return (
    obstacleOf(error) !== undefined ||
    causesOf(error).some((each) => unsentCodes.includes(String(Reflect.get(each, 'code'))))
  );
}

// Obstacles by the codes of OpenSSL. A fault of TLS that can follow the handshake, such as a bad record, is not an obstacle.
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
