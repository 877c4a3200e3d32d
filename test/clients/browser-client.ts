import { readFile } from 'node:fs/promises';
import { launchBrowser } from '@echodrop/testkit/browser/launch-browser';
import { patienceMs } from '@echodrop/testkit/patience';
import { rolldown } from 'rolldown';
import type { ClientResponse, ClientUpload } from './client-upload.ts';
import { pathOf } from './run-program.ts';

/** The origin of a page that uploads to another origin. Nothing listens there. */
export const pageOrigin = 'http://localhost';

/** Opens a page of `pageOrigin` with the form of upload.html, and makes the named requests. */
export async function withBrowser(path: string, upload: ClientUpload, requests: readonly string[]) {
  await using browser = await launchBrowser(path);
  // Without the permission, Chromium lets only pages of a local server send requests to one.
  const context = await browser.newContext({ permissions: ['local-network-access'] });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const body = await readFile(pathOf('upload.html'), 'utf8');
  await page.route(`${pageOrigin}/upload.html`, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(`${pageOrigin}/upload.html`);
  // With a route, Playwright itself responds to preflights.
  await page.unrouteAll();
  await page.addScriptTag({ content: await bundle('dropzone-upload.js'), type: 'module' });
  await page.fill('[name=key]', upload.key);
  await page.fill('[name=message]', upload.message);
  await page.setInputFiles('[name=media]', upload.file);
  const headers = {
    'X-Auth-Service-Provider': upload.provider,
    'X-Verify-Credentials-Authorization': upload.authorization,
  };
  const responses: Record<string, ClientResponse> = {};
  for (const name of requests) {
    const call = `uploads[${JSON.stringify(name)}](${JSON.stringify(upload.address)}, ${JSON.stringify(headers)})`;
    responses[name] = await page.evaluate(call);
  }
  return responses;
}

/** Bundles a program of this folder for a browser. */
export async function bundle(program: string): Promise<string> {
  await using build = await rolldown({ input: pathOf(program), platform: 'browser' });
  const { output } = await build.generate({ format: 'esm' });
  return output[0].code;
}
