import { randomUUID } from 'node:crypto';
import { bindTrace } from '@echodrop/service/tracing/trace';
import type { RequestHandler, Response } from 'express';
import type { SiteEvents } from '../events.ts';

/** Gives every answer an `X-Request-Id` of its own, and tells the events how it went when it has ended or its reader has gone. */
export function followRequest(events: SiteEvents): RequestHandler {
  return (request, response, next) => {
    const began = performance.now();
    const requestId = randomUUID();
    response.set('X-Request-Id', requestId);
    const tell = bindTrace(() =>
      events.answered({
        requestId,
        method: request.method,
        path: request.path.slice(0, maxPathTold),
        route: request.route?.path ?? 'none',
        status: response.statusCode,
        seconds: (performance.now() - began) / 1000,
        complete: response.writableFinished,
      }),
    );
    untilGone(response).addEventListener('abort', tell, { once: true });
    next();
  };
}

const maxPathTold = 64;

/** The id that `followRequest` gave. */
export function requestIdOf(response: Response): string {
  return response.get('X-Request-Id') ?? '';
}

// One listener for each answer, however many ask: a stream that is piped into it adds its own, and Node warns beyond ten.
const signals = new WeakMap<Response, AbortSignal>();

/** Aborted when the answer has ended or its reader has gone: nothing is fetched for nobody. */
export function untilGone(response: Response): AbortSignal {
  const known = signals.get(response);
  if (known) return known;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  signals.set(response, gone.signal);
  return gone.signal;
}
