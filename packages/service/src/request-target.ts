import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

type Routes = (request: IncomingMessage, response: ServerResponse, unrouted: () => void) => void;

/**
 * Gives `routes` the path of every request (RFC 9112 section 3.2.2: the target may be a whole URL). `unrouted` responds to a target without a
 * path, for which Express runs no route, not even those for errors.
 */
export function routePaths(routes: Routes, unrouted: RequestListener): RequestListener {
  return (request, response) => {
    request.url = pathOf(request.url ?? '');
    // RFC 9112 section 6.1: the framing is faulty.
    if (request.httpVersion === '1.0' && 'transfer-encoding' in request.headers) response.shouldKeepAlive = false;
    routes(request, response, () => unrouted(request, response));
  };
}

function pathOf(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const { pathname = '', search = '' } = URL.parse(target) ?? {};
  return pathname.startsWith('/') ? pathname + search : '';
}
