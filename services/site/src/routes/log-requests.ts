import { randomUUID } from 'node:crypto';
import { bindTrace } from '@echodrop/service/tracing/trace';
import type { RequestHandler, Response } from 'express';
import type { SiteEvents } from '../events.ts';

const maxPathLength = 64;

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
        seconds: (performance.now() - began) / 1000,
        complete: response.writableFinished,
      }),
    );
    closeSignal(response).addEventListener('abort', report, { once: true });
    next();
  };
}

/** The id that `logRequests` set. */
export function requestIdOf(response: Response): string {
  return response.get('X-Request-Id') ?? '';
}

// One listener per response: Node warns beyond ten, and a pipe adds its own.
const signals = new WeakMap<Response, AbortSignal>();

/** Aborted when the response has ended or its reader has left. */
export function closeSignal(response: Response): AbortSignal {
  const known = signals.get(response);
  if (known) return known;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  signals.set(response, closed.signal);
  return closed.signal;
}
