import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { patientSignal } from '@echodrop/testkit/patience';
import { readXml } from '@echodrop/testkit/read-xml';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import type { Stack } from '@echodrop/testkit/start-stack';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { oembedLinkOf } from './read-html.fixture.ts';
import { fetchNamed, readAs, readers } from './readers.fixture.ts';
import { publishSample, shown, startSite } from './site.fixture.ts';

const resources = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;
let photo: string;
let video: string;

beforeAll(async () => {
  ({ stack, store } = await startSite(resources, { OEMBED_DISCOVERY: '1', SITE_NAME: 'Pictures & videos' }));
  const large = { width: 1600, height: 1202 };
  photo = await publishSample(store, await samplePhoto('jpg', large), { ...large, text: 'Fish & </oembed> <chips>' });
  const wide = { width: 640, height: 360 };
  video = await publishSample(store, await sampleVideo('mp4', wide), { ...wide, type: 'mp4', text: 'Surf' });
  // The last of each set, and the whole photo.
  await shown(stack, `/${photo}/large.webp`, `/${photo}.jpg`, `/${video}/video.mp4`);
});
afterAll(() => resources.disposeAsync());

function query(url: string | undefined, others: Record<string, string> = {}): Promise<Response> {
  const parameters = new URLSearchParams({ ...(url !== undefined && { url }), ...others });
  return fetch(`${stack.site}/oembed?${parameters}`, { signal: patientSignal() });
}

interface Oembed {
  readonly type: string;
  readonly title: string;
  readonly url: string;
  readonly html: string;
  readonly width: number;
  readonly height: number;
  readonly thumbnail_url: string;
  readonly thumbnail_width: number;
  readonly thumbnail_height: number;
}

async function oembed(id: string, others: Record<string, string> = {}): Promise<Oembed> {
  const response = await query(`${stack.site}/${id}`, others);
  expect(response.status).toBe(200);
  return (await response.json()) as Oembed;
}

async function sizeOf(address: string): Promise<readonly number[]> {
  const response = await fetch(address, { redirect: 'error' });
  expect({ address, status: response.status }).toEqual({ address, status: 200 });
  const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
  return [width, height];
}

test.each([
  {},
  { maxwidth: '2000' },
  { maxwidth: '1200', maxheight: '1000' },
  { maxwidth: '640' },
  { maxwidth: '600' },
  { maxheight: '80' },
])(
  'within %j, the pictures exist and have the declared sizes',
  async (max: { maxwidth?: string; maxheight?: string }) => {
    const found = await oembed(photo, max);
    expect(found.type).toBe('photo');
    expect(await sizeOf(found.url)).toEqual([found.width, found.height]);
    expect(await sizeOf(found.thumbnail_url)).toEqual([found.thumbnail_width, found.thumbnail_height]);
    const { maxwidth = '10000', maxheight = '10000' } = max;
    expect(Math.max(found.width, found.thumbnail_width)).toBeLessThanOrEqual(Number(maxwidth));
    expect(Math.max(found.height, found.thumbnail_height)).toBeLessThanOrEqual(Number(maxheight));
  },
);

test('XML equals JSON; both have their types and allow every origin', async () => {
  for (const id of [photo, video]) {
    const json = await query(`${stack.site}/${id}`, { format: 'json' });
    const xml = await query(`${stack.site}/${id}`, { format: 'xml' });
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(xml.headers.get('content-type')).toBe('text/xml; charset=utf-8');
    for (const { headers } of [json, xml]) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cache-control')).toBe('public, max-age=86400');
    }
    const found = (await json.json()) as Record<string, unknown>;
    const texts = Object.entries(found).map(([name, value]) => [name, String(value)]);
    expect(readXml(await xml.text())).toEqual({ name: 'oembed', content: Object.fromEntries(texts) });
  }
});

test('the JSON contains no markup', async () => {
  const response = await query(`${stack.site}/${photo}`);
  const text = await response.text();
  expect(text).not.toMatch(/[<>&]/);
  expect(JSON.parse(text)).toMatchObject({ title: 'Fish & </oembed> <chips>', provider_name: 'Pictures & videos' });
});

test('accepts every form of an address of this site, and no address of others', async () => {
  for (const after of ['?a=b', '#c', '.jpg', '.png']) {
    expect((await query(`${stack.site}/${photo}${after}`)).status).toBe(200);
  }
  const elsewhere = [`https://pics.example/${photo}`, `${stack.site}.example/${photo}`, `${stack.site}/AAAAAAAAAA`];
  for (const url of [...elsewhere, `${stack.site}/`, 'no address']) expect((await query(url)).status).toBe(404);
  // Redirects to a page count too.
  const withSlash = `${stack.site}/${photo}/`;
  expect([(await fetch(withSlash)).status, (await query(withSlash)).status]).toEqual([200, 200]);
});

test.each([
  [400, {}],
  [400, { url: '' }],
  [400, { url: 'x', maxwidth: '-5' }],
  [400, { url: 'x', maxheight: '1e3' }],
  [501, { url: 'x', format: 'jsonp' }],
])('returns %i for %j', async (status, parameters: Record<string, string>) => {
  const response = await fetch(`${stack.site}/oembed?${new URLSearchParams(parameters)}`);
  expect(response.status).toBe(status);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('cache-control')).toBe('no-cache');
});

test('accepts a trailing slash without a redirect, and rejects duplicate parameters', async () => {
  const url = new URLSearchParams({ url: `${stack.site}/${photo}` });
  const response = await fetch(`${stack.site}/oembed/?${url}`, { redirect: 'error' });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  for (const twice of ['url=a&url=b', 'url=a&maxwidth=1&maxwidth=2'])
    expect((await fetch(`${stack.site}/oembed?${twice}`)).status).toBe(400);
});

test('no page allows other origins to read it', async () => {
  for (const path of [`/${photo}`, `/${video}`, `/${video}/player`, '/']) {
    expect((await fetch(stack.site + path)).headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('readers that prefer oEmbed show the same preview', async () => {
  for (const reader of [readers.mastodon, readers.slack]) {
    const ofPhoto = await reader.preview(await readAs(reader, `${stack.site}/${photo}`));
    expect(ofPhoto.title).toBe('Fish & </oembed> <chips>');
    const { image } = ofPhoto;
    if (!image) throw new Error('no picture is shown');
    expect(await sizeOf(image.address)).toEqual([image.width, image.height]);
    const ofVideo = await reader.preview(await readAs(reader, `${stack.site}/${video}`));
    expect(ofVideo.frame).toEqual({ address: `${stack.site}/${video}/player`, width: 640, height: 360 });
    expect((await fetchNamed(reader, ofVideo.frame ?? { address: '' })).status).toBe(200);
  }
});

test('an oEmbed address works for other media, because Mastodon caches it', async () => {
  const page = await readAs(readers.mastodon, `${stack.site}/${photo}`);
  const found = oembedLinkOf(page, 'application/json+oembed') ?? '';
  const template = found.replace(/(=(https?(%3A|:)(\/\/|%2F%2F)))([^&]*)/i, '={url}');
  expect(template).toContain('url={url}&');
  const response = await fetch(template.replace('{url}', encodeURIComponent(`${stack.site}/${video}`)));
  expect(await response.json()).toMatchObject({ type: 'video' });
});
