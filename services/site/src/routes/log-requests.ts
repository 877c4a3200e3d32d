import { randomUUID } from 'node:crypto';
import { bindTrace } from '@echodrop/service/tracing/trace';
import type { RequestHandler, Response } from 'express';
import type { SiteEvents } from '../events.ts';

const maxPathLength = 64;
// One for all: the stack of a new error would cost more than the rest of this file.
const responseClosed = new Error('The response has ended, or its reader has left');

/** Sets an `X-Request-Id` and reports the request when its response has ended or its reader has left. */
export function logRequests(events: SiteEvents): RequestHandler {
  return (request, response, next) => {
    const began = performance.now();
    const requestId = randomUUID();
    response.set('X-Request-Id', requestId);
    const report = bindTrace(() =>
      events.requestCompleted({
        requestId,
        method: request.method,
        path: request.path.slice(0, maxPathLength),
        route: request.route?.path ?? 'none',
        status: response.statusCode,
        seconds: Math.round(performance.now() - began) / 1000,
        complete: response.writableFinished,
      }),
    );
    const closed = new AbortController();
    response.locals['closeSignal'] = closed.signal;
    // One listener per response: Node warns beyond ten, and a pipe adds its own.
    response.once('close', () => {
      closed.abort(responseClosed);
      report();
    });
    next();
  };
}

/** The id that `logRequests` set. */
export function requestIdOf(response: Response): string {
  return response.get('X-Request-Id') ?? '';
}

/** Aborted when the response has ended or its reader has left; `logRequests` set it. */
export function closeSignal(response: Response): AbortSignal {
  return response.locals['closeSignal'];
}
