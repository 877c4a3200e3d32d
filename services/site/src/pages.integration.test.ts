import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ownerHash } from '@echodrop/archive/owner';
import { refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { pictureRecipes } from '@echodrop/media/rendition-recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import type { StoredRecord } from '@echodrop/record';
import { made, samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample, shown } from './site.fixture.ts';

const provider = 'https://id.example/verify';
const size = { width: 64, height: 48 };

const resources = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;
let otherSite: Stack;

beforeAll(async () => {
  const settings = {
    PUBLIC_SITE_URL: 'http://pictures.example',
    SITE_NAME: 'Bild & Ton',
    ABUSE_CONTACT: 'mailto:abuse@pictures.example',
    SECURITY_CONTACT: 'mailto:security@pictures.example',
    ROBOTS: 'index',
  };
  stack = resources.use(await startStack({ services: ['site', 'rendition-worker'] }));
  otherSite = resources.use(await startStack({ services: ['site'], settings, beside: stack }));
  store = resources.use(new FilesystemObjectStore(join(stack.folder, 'store')));
});
afterAll(() => resources.disposeAsync());

function get(path: string, { of = stack, headers = {} }: { of?: Stack; headers?: Record<string, string> } = {}) {
  return fetch(`${of.site}${path}`, { headers, redirect: 'manual' });
}

async function bodyOf(path: string, of = stack): Promise<string> {
  return (await get(path, { of })).text();
}

/** Waits until the pictures of `id` are ready. */
async function ready(id: string, path = '/large.jpg'): Promise<string> {
  await shown(stack, `/${id}${path}`);
  return id;
}

/** The first response with `part`. On a busy machine, the site may not learn within its wait what became of a rendition. */
async function pageWith(part: string, path: string): Promise<{ headers: Headers; body: string }> {
  let page = { headers: new Headers(), body: '' };
  const read = async () => {
    const response = await get(path);
    page = { headers: response.headers, body: await response.text() };
    return page.body;
  };
  await expect.poll(read).toContain(part);
  return page;
}

async function publishPhoto(type: 'jpg' | 'webp' | 'gif', record: Partial<StoredRecord> = {}): Promise<string> {
  return publishSample(store, await samplePhoto(type, size), { type, ...size, ...record });
}

test('a page and its style are small', async () => {
  const text = 'word https://a.example/ '.repeat(20);
  const path = `/${await ready(await publishPhoto('jpg', { text }))}`;
  expect((await bodyOf(path)).length + (await bodyOf('/style.css')).length).toBeLessThan(20_000);
});

test('every picture of a page exists', async () => {
  const id = await ready(await publishPhoto('webp'), '.webp');
  const page = await get(`/${id}`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';(?!.*unsafe)/);
  const pictures = [...(await page.text()).matchAll(/<(?:img|source) (?:class="\w+" )?(?:src|srcset)="([^" ]+)/g)].map(
    ([, path]) => String(path),
  );
  expect(pictures).toEqual(['/favicon.svg', `/${id}/large.webp`, `/${id}/large.jpg`]);
  for (const path of [...pictures, `/${id}.webp`, `/${id}/thumb.jpg`]) {
    const response = await get(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('content-type')).toMatch(/^image\//);
  }
});

test('shows animations', async () => {
  const gif = await ready(await publishPhoto('gif'));
  await pageWith(`<img src="/${gif}.gif"`, `/${gif}`);
  const frames = ['-f', 'lavfi', '-i', 'testsrc2=size=64x48:rate=5:duration=1'];
  const animation = await made([...frames, '-c:v', 'libwebp_anim', '-f', 'webp']);
  const webp = await ready(await publishSample(store, animation, { type: 'webp', ...size }), '.webp');
  await pageWith(`<img src="/${webp}.webp"`, `/${webp}`);
});

test('lists the uploads of a user, newest first, 24 per page', async () => {
  const owner = { provider, subject: 'eve' };
  const user = { id: 7n, screenName: 'e<v>e' };
  const ids: string[] = [];
  for (let day = 1; day <= 30; day += 1) {
    const timestamp = new Date(Date.UTC(2026, 10, day));
    const text = day === 30 ? 'The "last" one' : '';
    const mediaKey = newMediaKey();
    await store.put(renditionKey(mediaKey, pictureRecipes.thumb), Readable.from(['a picture']));
    ids.unshift(await publishSample(store, Buffer.from('x'), { ...owner, user, timestamp, text, mediaKey }));
  }
  const first = await bodyOf(`/by/${ownerHash(owner)}`);
  expect(idsIn(first)).toEqual(ids.slice(0, 24));
  expect(first).toContain('<h1>Uploads by <bdi>e&lt;v&gt;e</bdi></h1>');
  expect(first).toContain(`<img src="/${ids[0]}/thumb.jpg" width="150" height="150" alt="The &quot;last&quot; one"`);
  expect(first).toContain('alt="Photo by e&lt;v&gt;e"');
  expect(await bodyOf(`/${ids[0]}`)).toContain(`href="/by/${ownerHash(owner)}"`);

  const [, older = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
  const second = await bodyOf(older);
  expect(idsIn(second)).toEqual(ids.slice(24));
  expect(second).not.toContain('rel="next"');
  expect(second).toContain(`href="/by/${ownerHash(owner)}">Newest</a>`);
});

test('labels uploads without a thumbnail, and reloads while one is pending', async () => {
  const owner = { provider, subject: 'olivia' };
  const path = `/by/${ownerHash(owner)}`;
  const broken = await publishSample(store, Buffer.from('x'), { ...owner, text: 'A <b>roken</b> one' });
  await ready(await publishPhoto('jpg', owner));
  await expect.poll(async () => (await get(`/${broken}/thumb.jpg`)).status).toBe(404);
  const label = `<li><a href="/${broken}"><span class="unshown"><bdi>A &lt;b&gt;roken&lt;/b&gt; one</bdi> <small>Cannot be displayed</small></span></a></li>`;
  expect((await pageWith(label, path)).headers.has('refresh')).toBe(false);

  await stack.services['rendition-worker'].kill();
  const id = await publishPhoto('jpg', { ...owner, text: '', timestamp: new Date() });
  const { headers, body } = await pageWith('Processing', path);
  expect(body).toContain(label);
  expect(headers.get('refresh')).toMatch(/^\d+$/);
  // A cached page would keep the header.
  expect(headers.get('cache-control')).toBe('no-store');
  expect(body).toContain('<bdi>Photo by ada</bdi> <small>Processing</small>');
  expect(body.match(/thumb\.jpg/g)).toHaveLength(1);

  await stack.services['rendition-worker'].restart();
  await expect.poll(async () => (await get(path)).headers.has('refresh')).toBe(false);
  expect(await bodyOf(path)).toContain(`<img src="/${id}/thumb.jpg"`);
});

test('skips and reports a record of an unknown type', async () => {
  const owner = { provider, subject: 'trent' };
  const unknown = await publishSample(store, Buffer.from('x'), { ...owner, type: 'jxl' });
  const known = await publishPhoto('jpg', owner);
  const page = await get(`/by/${ownerHash(owner)}`);
  expect([page.status, idsIn(await page.text())]).toEqual([200, [known]]);
  const logged = () => stack.services.site.output.split('\n').filter((line) => line.includes(unknown));
  await expect
    .poll(() => logged().map((line) => JSON.parse(line)))
    .toMatchObject([{ level: 'error', mediaId: unknown, reason: 'unknown type jxl', msg: 'Record unreadable' }]);
  const metrics = await stack.metrics('site');
  expect(metrics).toMatch(/^echodrop_site_records_unreadable_total\b.* 1$/m);
});

test.each([
  `/by/${'0'.repeat(32)}`,
  '/by',
  '/by/..%2frecords',
  `/by/${'A'.repeat(32)}`,
  `/by/${ownerHash({ provider, subject: '12345' })}?after=x`,
  `/by/${ownerHash({ provider, subject: '12345' })}?after=`,
  `/by/${ownerHash({ provider, subject: '12345' })}?after=a&after=b`,
])('%s is not the page of a user', async (path) => {
  await publishPhoto('jpg');
  expect((await get(path)).status).toBe(404);
});

test('a pending page reloads until it is ready', async () => {
  await stack.services['rendition-worker'].kill();
  const id = await publishPhoto('jpg');
  const pending = await get(`/${id}`);
  expect(pending.headers.get('refresh')).toMatch(/^\d+$/);
  expect(await pending.text()).toContain('This picture is still being processed.');

  await stack.services['rendition-worker'].restart();
  const { headers } = await pageWith(`<img src="/${id}/large.jpg"`, `/${id}`);
  expect(headers.has('refresh')).toBe(false);
});

test('a page with a ready video does not reload for its poster', async () => {
  const mediaKey = newMediaKey();
  const video = await sampleVideo('mp4', size);
  const id = await publishSample(store, video, { type: 'mp4', ...size, mediaKey });
  await ready(id);
  await ready(id, '/video.mp4');
  await stack.services['rendition-worker'].kill();
  await store.remove(renditionKey(mediaKey, pictureRecipes.large));
  const page = await get(`/${id}`);
  await stack.services['rendition-worker'].restart();
  expect(await page.text()).toContain('<video');
  expect(page.headers.has('refresh')).toBe(false);
});

/** The response to a verbatim request target. */
function getVerbatim(target: string, hosts = 'Host: a\r\n'): Promise<string> {
  const client = connect(Number(new URL(stack.site).port), '127.0.0.1');
  client.end(`GET ${target} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
  return text(client);
}

test('a request for a whole URL gets its path; a target without a path is malformed', async () => {
  expect(await getVerbatim('http://a/robots.txt')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await getVerbatim('http://[::/robots.txt')).toMatch(/^HTTP\/1\.1 400 .*Malformed request/s);
});

test.each(['/', '/style.css', '/AAAAAAAAAA.jpg'])(
  'a request for %s with two Host headers is malformed',
  async (target) => {
    expect(await getVerbatim(target, 'Host: a\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  },
);

test('redirects permanently from an address with a trailing slash', async () => {
  const owner = ownerHash({ provider, subject: '12345' });
  const paths = [
    '/AAAAAAAAAA',
    '/AAAAAAAAAA.jpg',
    '/AAAAAAAAAA/player',
    `/by/${owner}`,
    '/upload',
    '/show/thumb/AAAAAAAAAA',
  ];
  for (const path of paths) {
    const response = await get(`${path}/`);
    expect([response.status, response.headers.get('location')]).toEqual([301, path]);
  }
  expect((await get(`/by/${owner}//?after=x&y`)).headers.get('location')).toBe(`/by/${owner}?after=x&y`);
  expect((await fetch(`${stack.site}/documentation/`)).ok).toBe(true);
});

test('redirects a request with an absolute target to a path of this site', async () => {
  const response = await getVerbatim('http://evil.example/AAAAAAAAAA/?x=//evil.example/');
  expect(response).toMatch(/^HTTP\/1.1 301 .*^Location: \/AAAAAAAAAA\?x=\/\/evil.example\/\r$/ms);
});

test.each([
  '//',
  '//evil.example/',
  '/\\evil.example/',
  '/%5cevil.example/',
  '/a//evil.example/',
  '//evil.example/%2f..',
])('%s is not redirected', async (path) => {
  expect(await getVerbatim(path)).toMatch(/^HTTP\/1.1 404/);
});

test('search engines may index media only if ROBOTS allows it', async () => {
  const id = await publishPhoto('jpg');
  const owner = `/by/${ownerHash({ provider, subject: '12345' })}`;
  for (const path of [`/${id}`, owner]) {
    const response = await get(path);
    expect(response.headers.get('x-robots-tag')).toBe('noindex');
    expect(await response.text()).toContain('<meta name="robots" content="noindex">');
    const listed = await get(path, { of: otherSite });
    expect(listed.headers.has('x-robots-tag')).toBe(false);
    expect(await listed.text()).not.toContain('name="robots"');
  }
  expect((await get('/')).headers.has('x-robots-tag')).toBe(false);

  await ready(id);
  await ready(id, '.jpg');
  for (const path of [`/${id}.jpg`, `/${id}/large.jpg`, `/show/thumb/${id}`]) {
    expect((await get(path)).headers.get('x-robots-tag'), path).toBe('noindex');
    expect((await get(path, { of: otherSite })).headers.has('x-robots-tag'), path).toBe(false);
  }
});

test('every page has the site name and the abuse contact', async () => {
  const id = await publishPhoto('jpg');
  const owner = `/by/${ownerHash({ provider, subject: '12345' })}`;
  for (const path of ['/', '/documentation', `/${id}`, owner, '/nothing', '/AAAAAAAAAA/large.jpg']) {
    const body = await bodyOf(path, otherSite);
    expect(body).toContain('Bild &amp; Ton</a></header>');
    expect(body).toContain('<a href="mailto:abuse@pictures.example">Report abuse</a>');
    expect(body).not.toContain('Echodrop');
    expect(body.match(/<h1/g)).toHaveLength(1);
    expect(body.match(/<main/g)).toHaveLength(1);
  }
  expect(await bodyOf('/')).not.toContain('Report abuse');
  expect(await bodyOf('/.well-known/security.txt', otherSite)).toContain('security@pictures.example');
});

test('the documentation shows uploads with the addresses of this site, and every reason of a refusal', async () => {
  expect(await bodyOf('/')).toContain('href="/documentation"');
  const body = await bodyOf('/documentation', otherSite);
  expect(body).toContain('/2/upload.json');
  expect(body).toContain('/1/upload.xml');
  for (const word of ['Idempotency-Key', 'Bearer', '/openapi.json', ...Object.keys(refusals)])
    expect(body).toContain(word);
  expect(body).toContain('https://upload.example/2/media.json');
  expect(body).toContain('-X DELETE https://upload.example/2/media/Ab3dE6gH9j');
  expect(body).toContain(
    'http://pictures.example/oembed?url=http%3A%2F%2Fpictures.example%2FAb3dE6gH9j&amp;format=json',
  );
});

test('warns once about a public plain http address', async () => {
  const warning = 'PUBLIC_SITE_URL is not HTTPS';
  await expect.poll(() => otherSite.services.site.output.split(warning).length).toBe(2);
  expect(stack.services.site.output).not.toContain(warning);
});

function idsIn(page: string): string[] {
  return [...page.matchAll(/<li><a href="\/(\w{10})">/g)].map(([, id]) => String(id));
}
