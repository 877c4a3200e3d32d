import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

type Routes = (request: IncomingMessage, response: ServerResponse, unrouted: () => void) => void;

/** Handles requests with `routes`. `unrouted` responds to a target without a path, for which Express runs no route, not even those for errors. */
export function routePaths(routes: Routes, unrouted: RequestListener): RequestListener {
  return (request, response) => {
    // RFC 9112 section 6.1: the framing is faulty.
    if (request.httpVersion === '1.0' && 'transfer-encoding' in request.headers) response.shouldKeepAlive = false;
    routes(request, response, () => unrouted(request, response));
  };
}
