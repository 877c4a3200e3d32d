import { readFile } from 'node:fs/promises';
import { EchodropClient } from '@echodrop/client/node';
import { findBrowser } from '@echodrop/testkit/browser/find-browser';
import { launchBrowser } from '@echodrop/testkit/browser/launch-browser';
import { patienceMs } from '@echodrop/testkit/patience';
import type { Tool } from '@echodrop/testkit/unless-missing';
import * as tus from 'tus-js-client';
import { bundle } from './browser-client.ts';
import type { ClientUpload } from './client-upload.ts';
import { canImport, runPython } from './run-program.ts';

const chunkSize = 80e6;
const retryDelays = Array.from({ length: 100 }, () => 100);

/** Uploads, and resolves once the service has accepted the last byte. */
export type TusClient = (upload: ClientUpload) => Promise<unknown>;

/** Clients that continue an upload after its connection broke, and what each needs beyond the packages; `find` returns undefined if that is missing. */
export const tusClients: Readonly<Record<string, { needs?: Tool; find(): Promise<TusClient | undefined> }>> = {
  'tus-js-client': { find: async () => withTusJs },
  tuspy: {
    needs: 'tuspy',
    find: async () => ((await canImport('tusclient')) ? (upload) => runPython('tus_upload.py', upload) : undefined),
  },
  '@echodrop/client': { find: async () => withLibrary },
  'the tus plugin of Uppy': {
    needs: 'Chromium',
    async find() {
      const browser = await findBrowser();
      return browser === undefined ? undefined : (upload) => withUppy(browser, upload);
    },
  },
};

async function withTusJs({ file, ...upload }: ClientUpload): Promise<void> {
  const media = await readFile(file);
  await new Promise<void>((resolve, reject) => {
    new tus.Upload(media, { ...optionsOf(upload), onSuccess: () => resolve(), onError: reject }).start();
  });
}

async function withLibrary({ address, provider, authorization, key: apiKey, message, file }: ClientUpload) {
  const credentials = { bearer: authorization.replace('Bearer ', '') };
  const client = new EchodropClient({ service: new URL('..', address), apiKey, provider, credentials });
  await client.upload(file, { message });
}

function optionsOf({ address, provider, authorization, key, message }: Omit<ClientUpload, 'file'>) {
  return {
    endpoint: address,
    headers: { 'X-Auth-Service-Provider': provider, 'X-Verify-Credentials-Authorization': authorization },
    metadata: { key, message },
    chunkSize,
    retryDelays,
  };
}

async function withUppy(path: string, { file, ...upload }: ClientUpload): Promise<void> {
  await using browser = await launchBrowser(path);
  const page = await browser.newPage();
  page.setDefaultTimeout(patienceMs);
  // Same origin as the gateway; CORS has other tests.
  await page.goto(new URL('../openapi.json', upload.address).href);
  await page.setContent('<input type="file">');
  await page.setInputFiles('input', file);
  await page.addScriptTag({ content: await bundle('uppy-upload.js'), type: 'module' });
  await page.evaluate(`uploadWithUppy(${JSON.stringify(optionsOf(upload))})`);
}
