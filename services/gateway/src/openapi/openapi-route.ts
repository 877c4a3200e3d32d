import { createHash } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import { methodNotAllowed } from '../answer/method-not-allowed.ts';
import { openApiDocument } from './openapi.ts';

/**
 * GET `/openapi.json` below `base`, a path with or without a slash at its end: the OpenAPI document of the uploads there. It may be kept for an
 * hour, and asked for again by its tag; other methods are 405.
 */
export function openApiRoute(base: string, maxMediaBytes: number): Router {
  const root = base.replace(/\/+$/, '');
  const body = JSON.stringify(openApiDocument(root, maxMediaBytes));
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
  const answer = (_request: Request, response: Response) => {
    response.set({ 'Cache-Control': 'public, max-age=3600', ETag: tag }).type('json').send(body);
  };
  const router = Router({ caseSensitive: true, strict: true });
  router.route(`${root}/openapi.json`).get(answer).all(methodNotAllowed('GET, HEAD', 'json'));
  return router;
}
