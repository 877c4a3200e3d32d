import { StoreUnavailable } from '@echodrop/object-store/object-store';
import type { ErrorRequestHandler } from 'express';
import type { SiteEvents } from './events.ts';
import { requestIdOf } from './follow-request.ts';
import { sendProblem } from './problem-page.ts';

/** Answers what a route threw; an answer that has begun is cut off, so that nobody takes it for the whole. */
export function answerFailure(events: SiteEvents): ErrorRequestHandler {
  return (error, request, response, _next) => {
    // A path that is no valid percent-encoding.
    if (error instanceof URIError) return sendProblem(response, 'not_found');
    const isUnavailable = error instanceof StoreUnavailable;
    const hasReaderGone = request.socket.destroyed && !isUnavailable;
    if (hasReaderGone) return;
    events.requestFailed(requestIdOf(response), isUnavailable ? 'store' : 'unexpected', error);
    if (response.headersSent) response.destroy();
    else sendProblem(response, isUnavailable ? 'unavailable' : 'failed');
  };
}
