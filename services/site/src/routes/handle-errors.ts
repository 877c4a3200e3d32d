import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { UnreadableRecord } from '@echodrop/record';
import type { ErrorRequestHandler } from 'express';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';
import { requestIdOf } from './log-requests.ts';

/** Responds to errors of routes. A response that has begun is cut off, so that it cannot pass for complete. */
export function handleErrors(site: Site): ErrorRequestHandler {
  return (error, request, response, _next) => {
    // Invalid percent-encoding in the path.
    if (error instanceof URIError) return sendProblem(response, 'not_found', site);
    const isUnavailable = error instanceof StoreUnavailable;
    const hasReaderLeft = request.socket.destroyed && !isUnavailable;
    if (hasReaderLeft) return;
    const kind = isUnavailable ? 'store' : 'unexpected';
    // Unreadable records are reported by their ids.
    if (!(error instanceof UnreadableRecord)) site.events.requestFailed(requestIdOf(response), kind, error);
    if (response.headersSent) return void response.destroy();
    sendProblem(response, isUnavailable ? 'unavailable' : 'failed', site);
  };
}
