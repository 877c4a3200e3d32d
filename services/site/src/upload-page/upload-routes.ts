import { browserScripts } from '@echodrop/oauth/browser-scripts';
import { Router } from 'express';
import { sendPage } from '../pages/page.ts';
import { fixedFile } from '../serve/fixed-file.ts';
import type { Site } from '../site.ts';
import { uploadPage } from './upload-page.ts';

const files: Readonly<Record<string, URL>> = {
  'upload.css': new URL('./upload.css', import.meta.url),
  ...Object.fromEntries(
    ['page', 'elements', 'caption', 'chosen-file', 'send-upload', 'response'].map((name) => [
      `${name}.js`,
      new URL(`./browser/${name}.js`, import.meta.url),
    ]),
  ),
  ...browserScripts,
};

/** `/upload` and the files that the page loads; no routes without an upload page. */
export function uploadRoutes(site: Pick<Site, 'upload' | 'name' | 'abuseContact'>): Router {
  const { upload, name } = site;
  const router = Router({ caseSensitive: true, strict: true });
  if (upload === undefined) return router;
  router.get('/upload', (_request, response) => sendPage(response, 200, uploadPage(upload, name), site));
  for (const [path, file] of Object.entries(files)) router.get(`/upload/${path}`, fixedFile(file));
  return router;
}
