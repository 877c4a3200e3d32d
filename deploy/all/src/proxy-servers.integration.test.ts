import { createServer, request } from 'node:http';
import { listen } from '@echodrop/testkit/servers/listen';
import { nginx } from '@echodrop/testkit/servers/start-nginx';
import { startProxyOf } from '@echodrop/testkit/servers/start-proxy';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { profileEntries } from '../../../services/sandbox-provider/src/profiles.ts';
import { proxyServers } from './proxy-servers.ts';

const needed = unlessMissing({ nginx: nginx !== undefined });
const trial = { origin: 'http://127.0.0.1:8080', hasSandbox: true, roots: [''] };

let parts: AsyncDisposableStack;
let upstreams: Parameters<typeof proxyServers>[1];
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const startOf = async (name: string) =>
    parts.use(await listen(createServer((_, response) => response.end(name)))).origin;
  upstreams = { gateway: await startOf('gateway'), site: await startOf('site'), sandbox: await startOf('sandbox') };
});
afterEach(() => parts.disposeAsync());

async function whoResponds(settings: typeof trial) {
  const { origin } = parts.use(await startProxyOf(proxyServers(settings, upstreams)));
  return async (path: string) => (await fetch(origin + path)).text();
}

const uploads = [
  '1/upload.xml',
  '2/upload.json',
  '2/media.json',
  '2/media/Ab3dE6gH9j',
  'files',
  'files/1',
  'openapi.json',
];
const pages = [
  '/',
  '/Ab3dE6gH9j',
  '/Ab3dE6gH9j/large.jpg',
  '/upload',
  '/mine',
  '/style.css',
  '/sign-in/sign-in.css',
  '/filesystem',
  '/1',
];

test('uploads go to the gateway, and all else to the site', needed, async () => {
  const responder = await whoResponds({ ...trial, hasSandbox: false });
  for (const path of uploads) expect([path, await responder(`/${path}`)]).toEqual([path, 'gateway']);
  for (const path of [...pages, '/sandbox', '/oauth/authorize', '/api/v1/apps'])
    expect([path, await responder(path)]).toEqual([path, 'site']);
});

test('uploads go to the gateway below every base path', needed, async () => {
  const responder = await whoResponds({ ...trial, hasSandbox: false, roots: ['/a.b/api', ''] });
  for (const path of uploads) {
    expect([path, await responder(`/${path}`)]).toEqual([path, 'gateway']);
    expect([path, await responder(`/a.b/api/${path}`)]).toEqual([path, 'gateway']);
  }
  for (const path of [...pages, '/a-b/api/2/upload.json', '/a.b/apis'])
    expect([path, await responder(path)]).toEqual([path, 'site']);
});

test('people sign in at the sandbox of a trial, and clients verify there', needed, async () => {
  const responder = await whoResponds(trial);
  const signIn = ['authorize', 'token', 'revoke'].map((name) => `/oauth/${name}`);
  const metadata = ['openid-configuration', 'oauth-authorization-server'].map((name) => `/.well-known/${name}`);
  const ownPages = ['/sandbox', '/sandbox.css', '/behaviour', '/jwks', '/api/v1/apps'];
  for (const path of [...signIn, ...metadata, ...ownPages, ...profileEntries.map(([, profile]) => profile.path)])
    expect([path, await responder(path)]).toEqual([path, 'sandbox']);
  for (const path of uploads) expect([path, await responder(`/${path}`)]).toEqual([path, 'gateway']);
  for (const path of [...pages, '/.well-known/security.txt'])
    expect([path, await responder(path)]).toEqual([path, 'site']);
});

test('a trial refuses requests that name another host than loopback', needed, async () => {
  const { origin } = parts.use(await startProxyOf(proxyServers(trial, upstreams)));
  const statusOf = async (host: string) => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    request(origin, { headers: { Host: host } }, (response) => resolve(response.resume().statusCode)).end();
    return promise;
  };
  expect([await statusOf('127.0.0.1:8080'), await statusOf('localhost:1')]).toEqual([200, 200]);
  expect([await statusOf('192.0.2.1:8080'), await statusOf('127.0.0.1.evil.example')]).toEqual([421, 421]);
});
