import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Metrics } from './metrics.ts';
import { expressRoute, methodOf } from './request-labels.ts';

const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Tells of every request to `server` how long it took from its head to the end of its answer, by route, method and status. `routeOf`
 * gives a pattern that the code knows, never what was asked for; undefined where there is no such route. The status `gone` is a client's that left before
 * its answer began.
 */
export function registerHttpMetrics(
  metrics: Metrics,
  server: Server,
  routeOf: (request: IncomingMessage) => string | undefined = expressRoute,
): void {
  const seconds = metrics.histogram(
    'echodrop_http_request_seconds',
    'HTTP request duration from the head to the end of the response.',
    ['route', 'method', 'status'],
    buckets,
  );
  const begun = (request: IncomingMessage, response: ServerResponse) => {
    const started = performance.now();
    // Node warns beyond ten listeners, of which a streamed answer has as many itself.
    response.setMaxListeners(response.getMaxListeners() + 1).once('close', () => {
      const route = routeOf(request) ?? 'none';
      const status = response.headersSent ? String(response.statusCode) : 'gone';
      seconds.observe({ route, method: methodOf(request), status }, (performance.now() - started) / 1000);
    });
  };
  server.prependListener('request', begun);
  // Where nobody listens for them, Node answers an expectation itself, or makes a request of it.
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    if (server.listenerCount(event) > 0) server.prependListener(event, begun);
  }
}
