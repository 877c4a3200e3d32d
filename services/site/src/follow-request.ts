import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { SiteEvents } from './events.ts';

/** Gives every answer an `X-Request-Id` of its own, and tells the events how it went when it has ended or its reader has gone. */
export function followRequest(events: SiteEvents): RequestHandler {
  return (request, response, next) => {
    const began = performance.now();
    const requestId = randomUUID();
    response.set('X-Request-Id', requestId);
    response.once('close', () => {
      events.answered({
        requestId,
        method: request.method,
        path: request.path.slice(0, maxPathTold),
        route: request.route?.path ?? 'none',
        status: response.statusCode,
        seconds: (performance.now() - began) / 1000,
        complete: response.writableFinished,
      });
    });
    next();
  };
}

const maxPathTold = 64;

/** The id that `followRequest` gave. */
export function requestIdOf(response: Response): string {
  return response.get('X-Request-Id') ?? '';
}

/** Aborted when the answer has ended or its reader has gone: nothing is fetched for nobody. */
export function untilGone(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
