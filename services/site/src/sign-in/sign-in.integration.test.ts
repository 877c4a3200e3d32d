import { startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';

const resources = new AsyncDisposableStack();
const town = { name: 'Town', profile: 'mastodon', provider: 'https://town.example/api/v1/accounts/verify_credentials' };
const redirectPath = '/sign-in/a485525990dfbea4';
let site: string;

beforeAll(async () => {
  const settings = { WEB_UPLOAD: '1', WEB_UPLOAD_API_KEY: 'web-upload', WEB_SIGN_IN: JSON.stringify([town]) };
  const ofSite = { ...settings, UPLOAD_URL: 'https://upload.example' };
  ({ site } = resources.use(await startStack({ services: ['site'], settings: ofSite })));
});
afterAll(() => resources.disposeAsync());

test('the callback page sends no referrer, and is neither indexed nor stored', async () => {
  const { status, headers } = await fetch(`${site}${redirectPath}?code=a&state=b`);
  expect([status, headers.get('referrer-policy'), headers.get('x-robots-tag'), headers.get('cache-control')]).toEqual([
    200,
    'no-referrer',
    'noindex',
    'no-store',
  ]);
  expect(headers.get('content-security-policy')).toContain(
    "connect-src 'self' https://upload.example https://town.example;",
  );
});

test('every page leads to the upload page and to own uploads', async () => {
  const page = await (await fetch(`${site}/AAAAAAAAAA`)).text();
  const [header = ''] = /<header>.*<\/header>/.exec(page) ?? [];
  expect([...header.matchAll(/href="([^"]+)"/g)].map(([, path]) => path)).toEqual(['/', '/upload', '/mine']);
});

test('command lines and other sites can read the sign-in settings', async () => {
  const response = await fetch(`${site}/sign-in/providers.json`);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await response.json()).toEqual({
    upload: 'https://upload.example',
    apiKey: 'web-upload',
    providers: [{ ...town, redirectPath }],
  });
});

test('every module that a page loads is served as JavaScript', async () => {
  const paths = ['/upload', '/mine', '/mine/apps', redirectPath];
  const pages = await Promise.all(paths.map(async (path) => (await fetch(site + path)).text()));
  const scripts = pages.flatMap((page) => [...page.matchAll(/<script src="([^"]+)" type="module">/g)]);
  const seen = new Set(scripts.map(([, path = '']) => path));
  for (const path of seen) {
    const response = await fetch(site + path);
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/javascript; charset=utf-8',
    ]);
    for (const [, imported = ''] of (await response.text()).matchAll(/(?:from|import\(?) ?['"`]([./][^'"`]+)['"`]/g))
      seen.add(new URL(imported, site + path).pathname);
  }
  for (const script of ['client', 'sign-in-client', 'signed-get-chunk'])
    expect(seen).toContain(`/scripts/${script}.js`);
});
