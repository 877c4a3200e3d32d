import type { RequestHandler, Response } from 'express';
import { askedAddress } from './asked-address.ts';

/** Answers requests whose Host header is no host, and keeps the address of the others. */
export const requireAddress: RequestHandler = ({ headers, originalUrl: target }, response, next) => {
  const address = askedAddress({ headers, target });
  if (address) {
    response.locals['address'] = address;
    next();
  } else {
    response.status(400).type('text').send('the Host header must be a host, and the target a path\n');
  }
};

/** The address that `requireAddress` kept. */
export function addressOf(response: Response): URL {
  return response.locals['address'];
}
