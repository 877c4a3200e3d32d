import { redirectPath } from '@echodrop/contracts/sign-in';
import { type RequestHandler, Router } from 'express';
import { scriptFolders } from '../browser/script-folders.ts';
import { appsPage } from '../pages/apps-page.ts';
import { minePage } from '../pages/mine-page.ts';
import { BuiltPage, fixedPage } from '../pages/page.ts';
import { fixedFile, scriptFiles } from '../serve/fixed-files.ts';
import { ResponseText } from '../serve/response-text.ts';
import { publicSettings, signInPage } from '../sign-in/sign-in-page.ts';
import { canSignIn, type Site, type WebUpload } from '../site.ts';
import { uploadPage } from '../upload-page/upload-page.ts';

/** The pages on which people sign in, upload, and list their uploads, with their files. No routes without an upload page. */
export function ownPageRoutes(site: Pick<Site, 'upload' | 'name' | 'abuseContact'>): Router {
  const { upload, name } = site;
  const router = Router({ caseSensitive: true, strict: true });
  if (!upload) return router;
  router.get('/upload', fixedPage(uploadPage(upload, name), site));
  const style = (name: string) => new URL(`../upload-page/styles/${name}.css`, import.meta.url);
  const parts = [style('dialog'), style('file-list'), style('credentials-and-progress'), style('upload-button')];
  router.get('/upload/upload.css', fixedFile(style('choose-files'), ...parts));
  router.get('/upload/:name', scriptFiles(scriptFolders.upload));

  const page = new BuiltPage(signInPage(upload, name), site);
  for (const provider of upload.signIn) {
    router.get(redirectPath(provider), (_request, response) => {
      // The address has a code until the script removes it.
      response.set('Referrer-Policy', 'no-referrer');
      page.send(response, 200);
    });
  }
  router.get('/sign-in/providers.json', sendSettings(upload));
  router.get('/sign-in/sign-in.css', fixedFile(new URL('../sign-in/sign-in.css', import.meta.url)));
  router.get('/sign-in/:name', scriptFiles(scriptFolders.signIn));

  if (!canSignIn(upload)) return router;
  router.get('/mine', fixedPage(minePage(upload, name), site));
  router.get('/mine/apps', fixedPage(appsPage(upload, name), site));
  return router.get('/mine/:name', scriptFiles(scriptFolders.mine));
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
