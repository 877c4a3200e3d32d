import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { contentTypeOf, type MediaType } from '@echodrop/media/detect-media-type';
import { fullRecipe, pictureRecipes, type Recipe, videoRecipe } from '@echodrop/media/rendition-recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample, removeUpload } from '../site.fixture.ts';

const original = Buffer.from('the uploaded original');
const renditionAddresses = ['mini', 'thumb', 'small', 'medium', 'card', 'large'].map((name) => `${name}.jpg`);
renditionAddresses.push('medium.webp', 'large.webp');
const historicAddresses = (id: string) =>
  ['mini', 'thumb', 'large', 'full'].flatMap((size) => [`/show/${size}/${id}`, `/show/${size}/${id}.jpg`]);

const resources = new AsyncDisposableStack();
let store: ObjectStore;
let stack: Stack;

// Readers of an S3 store: big-video.integration.test.ts.
beforeAll(async () => {
  stack = resources.use(await startStack({ services: ['site'] }));
  store = resources.use(new FilesystemObjectStore(join(stack.folder, 'store')));
});
afterAll(() => resources.disposeAsync());

/** Publishes media with all renditions. The content of each is the name and extension of its recipe. */
async function publish(type: MediaType): Promise<{ id: string; mediaKey: string }> {
  const mediaKey = newMediaKey();
  for (const recipe of [...Object.values(pictureRecipes), fullRecipe(type), videoRecipe])
    await putRendition(mediaKey, recipe);
  return { id: await publishSample(store, original, { mediaKey, type }), mediaKey };
}

async function putRendition(mediaKey: string, recipe: Recipe): Promise<void> {
  await store.put(renditionKey(mediaKey, recipe), Readable.from([Buffer.from(bytesOf(recipe))]));
}

const bytesOf = ({ name, extension }: Pick<Recipe, 'name' | 'extension'>) => `${name} as ${extension}, no more`;

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(`${stack.site}${path}`, { method, headers, redirect: 'manual' });
}

async function expectBytes(path: string, contentType: string, bytes: string): Promise<Response> {
  const response = await get(path);
  expect(response.status, path).toBe(200);
  expect(response.headers.get('content-type'), path).toBe(contentType);
  expect(await response.text(), path).toBe(bytes);
  return response;
}

async function expectRedirect(path: string, target: string): Promise<void> {
  const response = await get(path);
  expect(response.status, path).toBe(302);
  expect(response.headers.get('location'), path).toBe(target);
  expect(response.headers.get('cache-control'), path).toBe('public, max-age=3600');
  expect(response.headers.get('cross-origin-resource-policy'), path).toBe('cross-origin');
}

test('every rendition has an address and its content type', async () => {
  const { id } = await publish('mov');
  for (const { name, extension } of [...Object.values(pictureRecipes), videoRecipe])
    await expectBytes(`/${id}/${name}.${extension}`, contentTypeOf(extension), bytesOf({ name, extension }));
  // The names in earlier releases.
  await expectBytes(`/${id}/card.jpg`, 'image/jpeg', bytesOf(pictureRecipes.large));
  await expectBytes(`/${id}/film.mp4`, 'video/mp4', bytesOf(videoRecipe));
});

test.each([
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
] as const)('serves a %s under its extension, and redirects others there', async (type, contentType) => {
  const { id } = await publish(type);
  const response = await expectBytes(`/${id}.${type}`, contentType, bytesOf({ name: 'full', extension: type }));
  expect(response.headers.get('content-disposition')).toBe(`inline; filename="${id}.${type}"`);
  for (const other of ['jpeg', type.toUpperCase(), 'heic', 'tif', 'mp4']) {
    await expectRedirect(`/${id}.${other}`, `/${id}.${type}`);
  }
  await expectRedirect(`/show/full/${id}`, `/${id}.${type}`);
});

test.each(['heic', 'tiff', 'bmp'] as const)('serves a %s, which browsers do not support, as JPEG', async (type) => {
  const { id } = await publish(type);
  await expectBytes(`/${id}.jpg`, 'image/jpeg', bytesOf({ name: 'full', extension: 'jpg' }));
  await expectRedirect(`/${id}.${type}`, `/${id}.jpg`);
});

test.each(['mp4', 'mov', 'wmv'] as const)('serves a %s as MP4, and its poster as JPEG', async (type) => {
  const { id } = await publish(type);
  const response = await expectBytes(`/${id}.mp4`, 'video/mp4', bytesOf(videoRecipe));
  expect(response.headers.get('content-disposition')).toBe(`inline; filename="${id}.mp4"`);
  await expectBytes(`/${id}.jpg`, 'image/jpeg', bytesOf({ name: 'full', extension: 'jpg' }));
  for (const other of ['mov', 'm4v', 'MP4', 'webm']) await expectRedirect(`/${id}.${other}`, `/${id}.mp4`);
  for (const other of ['png', 'jpeg']) await expectRedirect(`/${id}.${other}`, `/${id}.jpg`);
  await expectRedirect(`/show/full/${id}`, `/${id}.jpg`);
  await expectRedirect(`/show/full/${id}.mov`, `/${id}.mp4`);
});

test('historic addresses ignore the extension of pictures', async () => {
  const { id } = await publish('png');
  for (const size of ['mini', 'thumb', 'large'] as const)
    for (const ending of ['', '.jpg', '.png', '.php'])
      await expectBytes(`/show/${size}/${id}${ending}`, 'image/jpeg', bytesOf({ name: size, extension: 'jpg' }));
  await expectRedirect(`/show/full/${id}.php`, `/${id}.png`);
});

test('the original has no address', async () => {
  for (const type of ['jpg', 'png', 'heic', 'mp4', 'avi'] as const) {
    const { id, mediaKey } = await publish(type);
    const guesses = ['original', 'media', 'full.jpg', 'full.png', 'video.mov', `original.${type}`, mediaKey];
    const paths = [
      ...[...renditionAddresses, 'video.mp4', ...guesses].map((name) => `/${id}/${name}`),
      ...['jpg', 'png', 'heic', 'mp4', 'avi'].map((extension) => `/${id}.${extension}`),
      ...[...historicAddresses(id), `/show/original/${id}`],
      ...[`/media/${mediaKey}`, `/${mediaKey}`, `/renditions/${mediaKey}/large-2.jpg`, `/records/${id}.json`],
    ];
    for (const path of paths) {
      const response = await fetch(`${stack.site}${path}`);
      expect(Buffer.from(await response.arrayBuffer()).includes(original), path).toBe(false);
    }
    for (const path of guesses) expect((await get(`/${id}/${path}`)).status, path).toBe(404);
  }
});

test('a removed upload is gone at every address, also for conditional requests and with remaining renditions', async () => {
  const { id, mediaKey } = await publish('mov');
  const etag = (await get(`/${id}/large.jpg`)).headers.get('etag') ?? '';
  await removeUpload(store, id);
  await putRendition(mediaKey, pictureRecipes.large);
  await putRendition(mediaKey, videoRecipe);

  const addresses = [...renditionAddresses, 'video.mp4'].map((name) => `/${id}/${name}`);
  for (const path of [`/${id}`, `/${id}.jpg`, `/${id}.mov`, `/${id}.mp4`, ...addresses, ...historicAddresses(id)]) {
    const conditions: Record<string, string>[] = [
      {},
      { 'if-none-match': etag },
      { range: 'bytes=0-1', 'if-range': etag },
    ];
    for (const headers of conditions) {
      const response = await get(path, headers);
      expect(response.status, path).toBe(410);
      expect(response.headers.get('cache-control'), path).toBe('no-cache');
      expect(await response.text(), path).not.toContain('no more');
    }
  }
  expect(await (await get(`/${id}`)).text()).toContain('<h1>Deleted</h1>');
  expect(await missing()).toBe(0);
});

test('media that is missing is gone and reported', async () => {
  const mediaKey = newMediaKey();
  const id = await publishSample(store, original, { mediaKey });
  await store.remove(mediaObjectKey(mediaKey));
  const before = await missing();
  const paths = [`/${id}`, `/${id}.jpg`, `/${id}/large.jpg`, `/show/thumb/${id}`];
  for (const path of paths) expect((await get(path)).status, path).toBe(410);
  expect(await missing()).toBe(before + paths.length);
  const logged = () => stack.services.site.output.split('\n').filter((line) => line.includes(mediaKey));
  await expect
    .poll(() => logged().map((line) => JSON.parse(line)))
    .toEqual(paths.map(() => expect.objectContaining({ level: 'error', mediaId: id, mediaKey })));
});

async function missing(): Promise<number> {
  const metrics = await stack.metrics('site');
  return Number(/^echodrop_site_media_missing_total.* (\d+)$/m.exec(metrics)?.[1]);
}

test.each([
  '/AAAAAAAAAA.jpg',
  '/AAAAAAAAAA.svg',
  '/AAAAAAAAAA.jpg.jpg',
  '/AAAAAAAAAA./mini.jpg',
  '/show/thumb/AAAAAAAAAA',
  '/show/huge/AAAAAAAAAA',
  '/show/thumb/..%2f..%2frecords',
  '/show/thumb',
  '/show/full/%2e%2e.jpg',
  '/..%2frecords.jpg',
  '/.jpg',
])('%s is not found, and not cached', async (path) => {
  const response = await get(path);
  expect(response.status).toBe(404);
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
});

test('the document that a browser makes to play a video may fetch it', async () => {
  const { id } = await publish('mp4');
  for (const path of [`/${id}.mp4`, `/${id}/video.mp4`]) {
    const { headers } = await get(path);
    expect(headers.get('content-security-policy'), path).toBe("default-src 'none'; sandbox; media-src 'self'");
    expect(headers.get('access-control-allow-origin'), path).toBe('*');
  }
  const picture = await get(`/${id}.jpg`);
  expect(picture.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  expect(picture.headers.has('access-control-allow-origin')).toBe(false);
});

test('ignores the tag in the record, which another store may have made', async () => {
  const mediaKey = newMediaKey();
  await putRendition(mediaKey, videoRecipe);
  const id = await publishSample(store, original, { mediaKey, type: 'mov', etag: 'of-the-store-before' });
  const path = `/${id}/${videoRecipe.name}.${videoRecipe.extension}`;
  const tag = (await expectBytes(path, 'video/mp4', bytesOf(videoRecipe))).headers.get('etag') ?? '';
  expect(tag).not.toContain('of-the-store-before');
  const range = await get(path, { Range: 'bytes=0-3', 'If-Range': tag });
  expect([range.status, await range.text()]).toEqual([206, bytesOf(videoRecipe).slice(0, 4)]);
  expect((await get(`/${id}`)).status).toBe(200);
});

test('an unknown extension is not found', async () => {
  const { id } = await publish('jpg');
  for (const path of [`/${id}.svg`, `/${id}.html`, `/${id}.`, `/${id}/full.jpg`, `/show/huge/${id}`])
    expect((await get(path)).status, path).toBe(404);
});

test('supports conditional requests and ranges (RFC 9110)', async () => {
  const { id, mediaKey } = await publish('jpg');
  const reading = await store.read(renditionKey(mediaKey, fullRecipe('jpg')));
  const bytes = reading ? await buffer(reading.body) : expect.fail('no rendition');
  const path = `/${id}.jpg`;
  const whole = await get(path);
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(bytes);
  const etag = whole.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[^"]+"$/);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'cache-control': 'public, max-age=86400',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    'accept-ranges': 'bytes',
    'content-length': String(bytes.length),
  });

  const head = await get(path, { range: 'bytes=0-3' }, 'HEAD');
  expect(head.status).toBe(200);
  expect(head.headers.get('content-type')).toBe('image/jpeg');
  expect(head.headers.get('content-length')).toBe(String(bytes.length));
  expect(await head.text()).toBe('');

  for (const known of [etag, `"other", W/${etag}`, '*']) {
    const unchanged = await get(path, { 'if-none-match': known, range: 'bytes=0-9' });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('etag')).toBe(etag);
    expect(unchanged.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(await unchanged.text()).toBe('');
  }
  expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);

  const ranges = [
    ['bytes=2-5', 2, 5],
    ['bytes=-10', bytes.length - 10, bytes.length - 1],
    ['bytes=5-', 5, bytes.length - 1],
    ['bytes=0-999999', 0, bytes.length - 1],
  ] as const;
  for (const [range, first, last] of ranges) {
    const partial = await get(path, { range, 'if-range': etag });
    expect(partial.status).toBe(206);
    expect(partial.headers.get('content-range')).toBe(`bytes ${first}-${last}/${bytes.length}`);
    expect(partial.headers.get('etag')).toBe(etag);
    expect(Buffer.from(await partial.arrayBuffer())).toEqual(bytes.subarray(first, last + 1));
  }

  for (const other of ['"other"', `W/${etag}`, new Date().toUTCString()]) {
    const response = await get(path, { range: 'bytes=-10', 'if-range': other });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  }

  const beyond = await get(path, { range: `bytes=${bytes.length}-` });
  expect(beyond.status).toBe(416);
  expect(beyond.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  expect(beyond.headers.get('cache-control')).toBeNull();
  expect(beyond.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  expect(beyond.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
});

test('sending causes no Node warnings', async () => {
  const { id } = await publish('mov');
  for (const path of [`/${id}.mp4`, `/${id}/large.jpg`, `/show/thumb/${id}`]) {
    await (await get(path)).arrayBuffer();
    await (await get(path, { range: 'bytes=0-3' })).arrayBuffer();
  }
  expect(stack.services.site.output).not.toContain('Warning');
});
