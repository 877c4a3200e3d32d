import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler, Response } from 'express';

const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Refuses requests with an invalid Host header or target, and keeps the address of the others. */
export const requireAddress: RequestHandler = ({ headers, originalUrl }, response, next) => {
  const address = requestAddress(headers, originalUrl);
  if (address) {
    response.locals['address'] = address;
    next();
  } else {
    response.status(400).type('text').send('The Host header must be a host, and the target a path.\n');
  }
};

/** The address that `requireAddress` kept. */
export function addressOf(response: Response): URL {
  return response.locals['address'];
}

/** The address as the client knows and signs it: the host from Host, the scheme from X-Forwarded-Proto. Not the server's own name. */
function requestAddress(headers: IncomingHttpHeaders, target: string): URL | undefined {
  if (!hostShape.test(headers.host ?? '') || !target.startsWith('/')) return undefined;
  const scheme = String(headers['x-forwarded-proto']).toLowerCase() === 'https' ? 'https' : 'http';
  return URL.parse(`${scheme}://${headers.host}${target}`) ?? undefined;
}
