import { redirectPath } from '@echodrop/contracts/sign-in';
import { type RequestHandler, Router } from 'express';
import { sendPage } from '../pages/page.ts';
import { fixedFile, fixedFiles, scriptFiles } from '../serve/fixed-files.ts';
import { ResponseText } from '../serve/response-text.ts';
import type { Site, WebUpload } from '../site.ts';
import { publicSettings } from './public-settings.ts';
import { signInPage } from './sign-in-page.ts';

/** The pages to which providers redirect, and what pages load for signing in; no routes without an upload page. */
export function signInRoutes(site: Pick<Site, 'upload' | 'name' | 'abuseContact'>): Router {
  const { upload, name } = site;
  const router = Router({ caseSensitive: true, strict: true });
  if (!upload) return router;
  const page = signInPage(upload, name);
  for (const provider of upload.signIn) {
    router.get(redirectPath(provider), (_request, response) => {
      // The address has a code until the script removes it.
      response.set('Referrer-Policy', 'no-referrer');
      sendPage(response, 200, page, site);
    });
  }
  router.get('/sign-in/providers.json', sendSettings(upload));
  router.get('/sign-in/sign-in.css', fixedFile(new URL('./sign-in.css', import.meta.url)));
  router.get('/sign-in/:name', fixedFiles(scriptFiles('/sign-in', new URL('./browser/', import.meta.url))));
  return router;
}

/** For command lines and other sites. */
function sendSettings(upload: WebUpload): RequestHandler {
  const settings = new ResponseText(JSON.stringify(publicSettings(upload)));
  return (_request, response) => {
    response.type('json').set({
      'Cache-Control': 'no-cache',
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
    settings.send(response);
  };
}
