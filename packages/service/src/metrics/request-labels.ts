import type { IncomingMessage } from 'node:http';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method of a request as metrics and spans tell it, from a closed set. */
export function methodOf({ method = '' }: IncomingMessage): string {
  return methods.has(method) ? method : 'other';
}

/** The route that Express found and noted on the request: a pattern of ours, never what was asked for; undefined where there is none. */
export function expressRoute({ route }: IncomingMessage & { route?: { path?: unknown } }): string | undefined {
  return route?.path === undefined ? undefined : String(route.path);
}
