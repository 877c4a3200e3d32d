import type { Request, Response } from 'express';
import type { Format } from './response/format.ts';
import { ClientGone } from './response/refusal-error.ts';

/** A request and its client. */
export interface RequestContext {
  readonly request: Pick<Request, 'headers'>;
  /** `X-Request-Id` of the response. */
  readonly requestId: string;
  /** The client's address, through trusted proxies only; empty if unknown. */
  readonly clientAddress: string;
  /** Aborted with ClientGone if the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
}

/** One upload, from its request to its log line. */
export interface UploadContext extends RequestContext {
  readonly request: Request;
  readonly version: 1 | 2 | 'tus';
  readonly format: Format;
  /** Sends `100 Continue` if the client waits for it. */
  readonly sendContinue: () => void;
  /** Fields of the log line, set as they become known. */
  readonly log: UploadLog;
  /** Times of `performance.now`: when the request began, and when its last byte had arrived. */
  readonly startedAt: number;
  receivedAt?: number;
}

export interface UploadLog {
  mediaId?: string;
  /** The key of the media. The probe-worker and the rendition-worker log the same key. */
  mediaKey?: string;
  /** Why media is unsupported. */
  cause?: string | undefined;
  refusalMessage?: string;
  bytes?: number;
  /** The id and the last known state of a resumable upload. */
  resumableId?: string;
  offset?: number;
  length?: number | undefined;
  /** How long the upload waited after its last byte, behind the user's other probes. */
  ownWaitSeconds?: number;
}

export function createRequestContext(request: Request<object>, response: Response): RequestContext {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new ClientGone('the client went away'));
  });
  const requestId = String(response.getHeader('X-Request-Id'));
  return { request, requestId, clientAddress: request.ip ?? '', signal: gone.signal };
}

export function createUploadContext(
  request: Request,
  response: Response,
  version: UploadContext['version'],
  format: Format,
): UploadContext {
  // RFC 9110 section 10.1.1: HTTP/1.0 has no expectations.
  const isWaiting = request.headers.expect !== undefined && request.httpVersion !== '1.0';
  const context: UploadContext = {
    ...createRequestContext(request, response),
    request,
    version,
    format,
    sendContinue: () => isWaiting && response.writeContinue(),
    log: {},
    startedAt: performance.now(),
  };
  request.once('end', () => {
    context.receivedAt = performance.now();
  });
  return context;
}
