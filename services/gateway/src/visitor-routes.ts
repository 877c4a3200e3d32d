import { securityTxt } from '@echodrop/service/security-txt';
import { Router } from 'express';
import { methodNotAllowed } from './response/send-response.ts';

interface Visited {
  /** Without final slashes. */
  readonly roots: readonly string[];
  readonly publicSite: string;
  readonly securityContact: string | undefined;
}

/** What browsers and crawlers request by themselves. The root of the host and of each base path leads to the site's page for developers. */
export function visitorRoutes({ roots, publicSite, securityContact }: Visited): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const redirect = (paths: string[], target: string) =>
    router
      .route(paths)
      .get((_request, response) => response.redirect(302, target))
      .all(methodNotAllowed('GET, HEAD', 'json'));
  const serve = (path: string, content: () => string) =>
    router
      .route(path)
      .get((_request, response) => {
        response.set('Cache-Control', 'public, max-age=3600').type('text/plain').send(content());
      })
      .all(methodNotAllowed('GET, HEAD', 'json'));

  redirect(['/', ...roots.filter(Boolean).flatMap((root) => [root, `${root}/`])], `${publicSite}/documentation`);
  redirect(['/favicon.ico'], `${publicSite}/favicon.svg`);
  serve('/robots.txt', () => 'User-agent: *\nDisallow: /\n');
  if (securityContact !== undefined) serve('/.well-known/security.txt', () => securityTxt(securityContact, new Date()));
  return router;
}
