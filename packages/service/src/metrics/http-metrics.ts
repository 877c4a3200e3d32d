import type { IncomingMessage, Server } from 'node:http';
import { trackRequests } from '../http-server.ts';
import type { Metrics } from './metrics.ts';
import { expressRoute, methodOf } from './request-labels.ts';

const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The pattern of a request's route, never the requested path; undefined without a route. */
export type RouteOf = (request: IncomingMessage) => string | undefined;

/** Registers the duration of requests by route, method and status, and a count of responses with status 500. Status `gone`: the client disconnected before the response began. */
export function registerHttpMetrics(metrics: Metrics, server: Server, routeOf: RouteOf = expressRoute): void {
  const seconds = metrics.histogram(
    'echodrop_http_request_seconds',
    'HTTP request duration from request headers to end of response.',
    ['route', 'method', 'status'],
    buckets,
  );
  // The count exists from the start, so that the first response with 500 is an increase.
  const internalErrors = metrics.counter(
    'echodrop_http_internal_errors_total',
    'HTTP responses with status 500, which unexpected errors get.',
  );
  trackRequests(server, (request, response) => {
    const started = performance.now();
    // Node warns beyond ten listeners, and a streamed response already has ten.
    response.setMaxListeners(response.getMaxListeners() + 1).once('close', () => {
      const route = routeOf(request) ?? 'none';
      const status = response.headersSent ? String(response.statusCode) : 'gone';
      if (status === '500') internalErrors.inc();
      seconds.observe({ route, method: methodOf(request), status }, (performance.now() - started) / 1000);
    });
  });
}
