import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { UnreadableRecord } from '@echodrop/record';
import type { ErrorRequestHandler } from 'express';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';
import { requestIdOf } from './follow-request.ts';

/** Answers what a route threw; an answer that has begun is cut off, so that nobody takes it for the whole. */
export function answerFailure(site: Site): ErrorRequestHandler {
  return (error, request, response, _next) => {
    // A path that is no valid percent-encoding.
    if (error instanceof URIError) return sendProblem(response, 'not_found', site);
    const isUnavailable = error instanceof StoreUnavailable;
    const hasReaderGone = request.socket.destroyed && !isUnavailable;
    if (hasReaderGone) return;
    tell(site, requestIdOf(response), error);
    if (response.headersSent) response.destroy();
    else sendProblem(response, isUnavailable ? 'unavailable' : 'failed', site);
  };
}

// An unreadable record has been told already, by its id.
function tell({ events }: Site, requestId: string, error: unknown): void {
  if (error instanceof UnreadableRecord) return;
  events.requestFailed(requestId, error instanceof StoreUnavailable ? 'store' : 'unexpected', error);
}
