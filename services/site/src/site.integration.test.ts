import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { StoredRecord } from '@echodrop/record';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample } from './publish-sample.fixture.ts';

const mark = 'MARKED-PLACE-48.2082N';

const parts = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;

beforeAll(async () => {
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  store = parts.use(new FilesystemObjectStore(path));
  stack = parts.use(await startStack({ services: ['site', 'rendition-worker'], settings: { OBJECT_STORE_DIR: path } }));
});
afterAll(() => parts.disposeAsync());

function publish(bytes: Buffer, record: Partial<StoredRecord> = {}): Promise<string> {
  return publishSample(store, bytes, record);
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(`${stack.site}${path}`, { method, headers });
}

const photo = () => samplePhoto('jpg', { width: 320, height: 240 });

test('the page of a photo shows it, and the picture that it names is there', async () => {
  const id = await publish(await photo());
  const page = await get(`/${id}`);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';(?!.*unsafe)/);
  const body = await page.text();
  expect(body).toContain('<p class="caption" dir="auto">Lunch</p>');
  const [, source = ''] = new RegExp(`src="(/${id}/[^"]+)"`).exec(body) ?? [];
  const picture = await get(source);
  expect(picture.status).toBe(200);
  expect(picture.headers.get('content-type')).toBe('image/jpeg');
  expect(Buffer.from(await picture.arrayBuffer()).subarray(0, 3)).toEqual(Buffer.from('ffd8ff', 'hex'));
});

test('every answer carries an id of its own and says that no type may be guessed', async () => {
  const answers = await Promise.all(
    ['/', '/style.css', '/nothing', '/%zz', '/AAAAAAAAAA/large.jpg'].map((path) => get(path)),
  );
  expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(answers.length);
  for (const { headers } of answers) {
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
])('%s is a page that says that nothing is there', async (path) => {
  const answer = await get(path);
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('<link rel="stylesheet" href="/style.css">');
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is not allowed', async (method) => {
  const answer = await get('/AAAAAAAAAA', {}, method);
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD');
});

test('a video plays in its page, in ranges, without its place', async () => {
  const options = ['-metadata', `location=${mark}`, '-metadata', `title=${mark}`, '-movflags', 'use_metadata_tags'];
  const video = await sampleVideo('mp4', { width: 320, height: 240, options });
  expect(video.includes(mark)).toBe(true);
  const id = await publish(video, { type: 'mp4' });
  const answer = await expect
    .poll(() => get(`/${id}/video.mp4`), { timeout: 15_000 })
    .toMatchObject({ status: 200 })
    .then(() => get(`/${id}/video.mp4`));
  expect(answer.headers.get('content-type')).toBe('video/mp4');
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.includes(mark)).toBe(false);
  const part = await get(`/${id}/video.mp4`, { range: 'bytes=100-199' });
  expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100, 200));
  // Earlier releases named it so.
  const sameVideo = await get(`/${id}/film.mp4`);
  expect(Buffer.from(await sameVideo.arrayBuffer())).toEqual(bytes);

  const page = await (await get(`/${id}`)).text();
  expect(page).toContain(`<source src="/${id}/video.mp4" type="video/mp4">`);
  expect(page).toContain(`poster="/${id}/large.jpg"`);
  expect((await get(`/${id}/large.jpg`)).headers.get('content-type')).toBe('image/jpeg');
});

test('media of which no picture can be made is said to be so', async () => {
  const id = await publish(Buffer.from('\xff\xd8\xff but no picture', 'latin1'));
  expect((await get(`/${id}/large.jpg`)).status).toBe(404);
  const page = await get(`/${id}`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('This picture cannot be shown.');
});

test('a photo has no video', async () => {
  const id = await publish(await photo());
  expect((await get(`/${id}/video.mp4`)).status).toBe(404);
});
