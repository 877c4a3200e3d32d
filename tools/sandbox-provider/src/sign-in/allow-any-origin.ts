import type { RequestHandler } from 'express';

/** Lets scripts of every site read responses, as Mastodon does; responds to preflights itself. */
export const allowAnyOrigin: RequestHandler = ({ method, headers }, response, next) => {
  response.set('Access-Control-Allow-Origin', '*');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return next();
  // An asterisk would not include Authorization.
  const requested = headers['access-control-request-headers'];
  if (requested !== undefined) response.set('Access-Control-Allow-Headers', requested);
  response.set({ 'Access-Control-Allow-Methods': 'GET, POST, DELETE', 'Access-Control-Max-Age': '7200' });
  response.status(204).end();
};
