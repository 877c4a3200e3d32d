import cors from 'cors';
import type { RequestHandler } from 'express';

// The longest that Chromium caches a preflight.
const maxAgeSeconds = 7200;

/** Lets scripts of these origins send requests and read responses (CORS of the Fetch standard). */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allow = cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['X-Verify-Credentials-Authorization', 'X-Auth-Service-Provider', 'Idempotency-Key'],
    exposedHeaders: ['X-Request-Id', 'Retry-After'],
    maxAge: maxAgeSeconds,
  });
  return (request, response, next) => {
    if (origins.includes(request.headers.origin ?? '')) return allow(request, response, next);
    response.vary('Origin');
    next();
  };
}
