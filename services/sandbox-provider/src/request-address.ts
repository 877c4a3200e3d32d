import type { RequestHandler, Response } from 'express';

const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Keeps the address that the client signs: the host from Host, the scheme from X-Forwarded-Proto. Refuses an invalid Host or target. */
export const requireAddress: RequestHandler = ({ headers, originalUrl: target }, response, next) => {
  const { host = '', 'x-forwarded-proto': forwarded } = headers;
  const scheme = String(forwarded).toLowerCase() === 'https' ? 'https' : 'http';
  const isValid = hostShape.test(host) && target.startsWith('/');
  response.locals['address'] = isValid ? URL.parse(`${scheme}://${host}${target}`) : null;
  if (response.locals['address']) next();
  else response.status(400).type('text').send('The Host header must be a host, and the target a path.\n');
};

/** The address that `requireAddress` kept. */
export function addressOf(response: Response): URL {
  return response.locals['address'];
}
