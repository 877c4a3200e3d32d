import { Readable } from 'node:stream';
import { pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveSite } from './app.fixture.ts';
import { readHtml } from './read-html.fixture.ts';
import { newStore, publishSample } from './site.fixture.ts';

const resources = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let site: string;

beforeAll(async () => {
  store = await newStore(resources);
  site = await serveSite(resources, {
    store,
    make: async () => ({ outcome: 'unsupported', why: 'codec' }),
    abuseContact: 'mailto:abuse@pictures.example',
    securityContact: 'https://pictures.example/security',
  });
});
afterAll(() => resources.disposeAsync());

function get(path: string, method = 'GET'): Promise<Response> {
  return fetch(`${site}${path}`, { method });
}

test('every response has its own id and forbids content sniffing', async () => {
  const responses = await Promise.all(
    ['/', '/style.css', '/nothing', '/%zz', '/AAAAAAAAAA/large.jpg'].map((path) => get(path)),
  );
  expect(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size).toBe(responses.length);
  for (const { headers } of responses) {
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy') ?? 'a style sheet').not.toBe('');
    expect(headers.has('x-powered-by')).toBe(false);
  }
});

test.each([
  '/AAAAAAAAAA',
  '/AAAAAAAAAA/large.jpg',
  '/short',
  '/..%2frecords',
  '/%zz',
  '/a/b/c',
  '/AAAAAAAAAA/',
  '/AAAAAAAAAA/original',
  '/upload',
  '/upload/page.js',
])('%s is not found', async (path) => {
  const response = await get(path);
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('<link rel="stylesheet" href="/style.css">');
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is not allowed', async (method) => {
  const response = await get('/AAAAAAAAAA', method);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD');
});

test('the site has what browsers and crawlers request by themselves', async () => {
  const icon = await get('/favicon.ico');
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  // Crawlers must read a page to see its `noindex`.
  expect(await (await get('/robots.txt')).text()).toBe('User-agent: *\nDisallow:\n');
  const contact = await get('/.well-known/security.txt');
  expect(contact.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await contact.text()).toMatch(/^Contact: https:\/\/pictures\.example\/security\nExpires: 20\d\d-/);
});

async function publishVideo(): Promise<string> {
  const mediaKey = newMediaKey();
  for (const recipe of [videoRecipe, pictureRecipes.large])
    await store.put(renditionKey(mediaKey, recipe), Readable.from(['a rendition']));
  return publishSample(store, Buffer.from('media'), { mediaKey, type: 'mp4', text: '"Surf" <b>' });
}

test('every site may frame the player, which contains only the video and the abuse contact', async () => {
  const id = await publishVideo();
  const response = await get(`/${id}/player`);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-frame-options')).toBeNull();
  expect(response.headers.get('refresh')).toBeNull();
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none';(?!.*unsafe).*frame-ancestors \*$/,
  );
  const { elements } = readHtml(await response.text(), site);
  const [video] = elements.filter(({ name }) => name === 'video');
  expect(video?.attributes).toMatchObject({
    controls: '',
    playsinline: '',
    preload: 'metadata',
    'aria-label': '"Surf" <b>',
    poster: `/${id}/large.jpg`,
  });
  expect(elements.filter(({ name }) => /^(script|style|b|img)$/.test(name))).toEqual([]);

  // A link that opened in the frame would replace the video.
  expect(elements.filter(({ name }) => name === 'a').map(({ attributes }) => attributes)).toEqual([
    { class: 'report', href: 'mailto:abuse@pictures.example', target: '_blank', rel: 'noopener' },
  ]);

  const paths = elements.flatMap(({ name, attributes: { src, href, poster } }) =>
    [src, poster, name === 'link' ? href : undefined].filter((path) => path?.startsWith('/')),
  );
  expect(paths).toEqual(['/player.css', '/favicon.svg', `/${id}/large.jpg`, `/${id}/video.mp4`]);
  for (const path of paths) {
    const file = await get(path ?? '');
    expect({ path, status: file.status }).toEqual({ path, status: 200 });
    // A sandboxed frame has an opaque origin.
    expect(file.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    await file.body?.cancel();
  }
});

test('no other page may be framed', async () => {
  const id = await publishVideo();
  for (const path of [`/${id}`, '/', `/AAAAAAAAAA/player`]) {
    const { headers } = await get(path);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
});

test('the player reports an unsupported video', async () => {
  const response = await get(`/${await publishSample(store, Buffer.from('media'), { type: 'webm' })}/player`);
  expect([response.status, response.headers.get('refresh')]).toEqual([200, null]);
  expect(await response.text()).toContain('<p>This video cannot be displayed.</p>');
});

test('a photo has no player and no video', async () => {
  const id = await publishSample(store, Buffer.from('media'));
  for (const name of ['player', 'video.mp4']) expect((await get(`/${id}/${name}`)).status).toBe(404);
});
