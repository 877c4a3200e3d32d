import { Router } from 'express';
import { fixedPage } from '../pages/page.ts';
import { fixedFiles, scriptFiles } from '../serve/fixed-files.ts';
import { canSignIn, type Site } from '../site.ts';
import { appsPage } from './apps-page.ts';
import { minePage } from './mine-page.ts';

/** `/mine`, `/mine/apps` and their scripts; no routes on a site without sign-in. */
export function mineRoutes(site: Pick<Site, 'upload' | 'name' | 'abuseContact'>): Router {
  const { upload, name } = site;
  const router = Router({ caseSensitive: true, strict: true });
  if (!canSignIn(upload)) return router;
  router.get('/mine', fixedPage(minePage(upload, name), site));
  router.get('/mine/apps', fixedPage(appsPage(upload, name), site));
  router.get('/mine/:name', fixedFiles(scriptFiles('/mine', new URL('./browser/', import.meta.url))));
  return router;
}
