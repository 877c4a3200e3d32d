import type { IncomingMessage } from 'node:http';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method for metrics and spans, from a closed set. */
export function methodOf({ method = '' }: IncomingMessage): string {
  return methods.has(method) ? method : 'other';
}

/** The pattern of the request's Express route, if any; never the requested path. */
export function expressRoute({ route }: IncomingMessage & { route?: { path?: unknown } }): string | undefined {
  return route?.path === undefined ? undefined : String(route.path);
}
