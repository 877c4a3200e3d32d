import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentationPage } from '../pages/documentation-page.ts';
import { homePage } from '../pages/home-page.ts';
import { fixedPage } from '../pages/page.ts';
import { ownPageRoutes } from './own-pages.ts';

const upload = { address: 'https://upload.example', maxBytes: 1, apiKey: undefined, signIn: [] };
const site = { name: 'Echodrop', publicSite: 'https://a.example', upload };
const app = express()
  .get('/', fixedPage(homePage(site), site))
  .get('/documentation', fixedPage(documentationPage(site), site))
  .use(ownPageRoutes(site));
let server: Server;
const get = (path: string) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);

beforeAll(async () => {
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

test.each(['/mine', '/mine/apps'])('without sign-in, there is no %s', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test.each(['/', '/documentation'])('without sign-in, %s does not link to own uploads', async (path) => {
  const page = await (await get(path)).text();
  expect(page).toContain('href="/upload"');
  expect(page).not.toContain('href="/mine');
});
