import cors from 'cors';
import type { RequestHandler } from 'express';

// As long as browsers remember an answer to a preflight at most (Chromium).
const maxAgeSeconds = 7200;

/** Lets the scripts of pages from these origins ask and read what we answer (the Fetch standard's CORS protocol); those of others get no leave. */
export function fromPages(origins: readonly string[]): RequestHandler {
  const leave = cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['X-Verify-Credentials-Authorization', 'X-Auth-Service-Provider', 'Idempotency-Key'],
    exposedHeaders: ['X-Request-Id', 'Retry-After'],
    maxAge: maxAgeSeconds,
  });
  return (request, response, next) => {
    if (origins.includes(request.headers.origin ?? '')) return leave(request, response, next);
    response.vary('Origin');
    next();
  };
}
