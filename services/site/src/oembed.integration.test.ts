import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRecord } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { isTombstone } from '@echodrop/record';
import { readXml } from '@echodrop/testkit/read-xml';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample } from './publish-sample.fixture.ts';
import { fetchNamed, oembedLinkOf, readAs, readers } from './readers.fixture.ts';

const parts = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;
let photo: string;
let video: string;

beforeAll(async () => {
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'oembed-test-')));
  store = parts.use(new FilesystemObjectStore(path));
  const settings = { OBJECT_STORE_DIR: path, OEMBED_DISCOVERY: '1', SITE_NAME: 'Pictures & videos' };
  stack = parts.use(await startStack({ services: ['site', 'rendition-worker'], settings }));
  const large = { width: 1600, height: 1202 };
  photo = await publishSample(store, await samplePhoto('jpg', large), { ...large, text: 'Fish & </oembed> <chips>' });
  const wide = { width: 640, height: 360 };
  video = await publishSample(store, await sampleVideo('mp4', wide), { ...wide, type: 'mp4', text: 'Surf' });
});
afterAll(() => parts.disposeAsync());

function ask(url: string | undefined, others: Record<string, string> = {}): Promise<Response> {
  const query = new URLSearchParams({ ...(url !== undefined && { url }), ...others });
  return fetch(`${stack.site}/oembed?${query}`, { signal: AbortSignal.timeout(10_000) });
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
  const answer = await ask(`${stack.site}/${id}`, others);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Oembed;
}

async function sizeOf(address: string): Promise<readonly number[]> {
  const answer = await fetch(address, { redirect: 'error' });
  expect({ address, status: answer.status }).toEqual({ address, status: 200 });
  const { width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
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
  'in a room of %j the pictures that are named are there, as large as is said and no larger than was asked for',
  async (room: { maxwidth?: string; maxheight?: string }) => {
    const said = await oembed(photo, room);
    expect(said.type).toBe('photo');
    expect(await sizeOf(said.url)).toEqual([said.width, said.height]);
    expect(await sizeOf(said.thumbnail_url)).toEqual([said.thumbnail_width, said.thumbnail_height]);
    const { maxwidth = '10000', maxheight = '10000' } = room;
    expect(Math.max(said.width, said.thumbnail_width)).toBeLessThanOrEqual(Number(maxwidth));
    expect(Math.max(said.height, said.thumbnail_height)).toBeLessThanOrEqual(Number(maxheight));
  },
);

test('a video is a frame with the player', async () => {
  const said = await oembed(video, { maxwidth: '320' });
  expect(said).toMatchObject({ type: 'video', width: 320, height: 180, title: 'Surf' });
  const [, address = ''] = /<iframe src="([^"]+)"/.exec(said.html) ?? [];
  expect(address).toBe(`${stack.site}/${video}/player`);
  expect((await fetch(address)).status).toBe(200);
});

test('XML says the same as JSON, and both are of their types and open to every site', async () => {
  for (const id of [photo, video]) {
    const json = await ask(`${stack.site}/${id}`, { format: 'json' });
    const xml = await ask(`${stack.site}/${id}`, { format: 'xml' });
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(xml.headers.get('content-type')).toBe('text/xml; charset=utf-8');
    for (const { headers } of [json, xml]) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cache-control')).toBe('public, max-age=86400');
    }
    const said = (await json.json()) as Record<string, unknown>;
    const texts = Object.entries(said).map(([name, value]) => [name, String(value)]);
    expect(readXml(await xml.text())).toEqual({ name: 'oembed', content: Object.fromEntries(texts) });
  }
});

test('while a video is being made nobody keeps the answer for long', async () => {
  await stack.services['rendition-worker'].freeze();
  try {
    const size = { width: 320, height: 180 };
    const id = await publishSample(store, await sampleVideo('mp4', size), { ...size, type: 'mp4' });
    expect((await ask(`${stack.site}/${id}`)).headers.get('cache-control')).toBe('public, max-age=60');
  } finally {
    await stack.services['rendition-worker'].thaw();
  }
});

test('no text in the JSON is markup where a page holds it', async () => {
  const answer = await ask(`${stack.site}/${photo}`);
  const text = await answer.text();
  expect(text).not.toMatch(/[<>&]/);
  expect(JSON.parse(text)).toMatchObject({ title: 'Fish & </oembed> <chips>', provider_name: 'Pictures & videos' });
});

test('every spelling of an address of ours is known, and none of another site', async () => {
  for (const after of ['?a=b', '#c', '.jpg', '.png']) {
    expect((await ask(`${stack.site}/${photo}${after}`)).status).toBe(200);
  }
  const elsewhere = [`https://pics.example/${photo}`, `${stack.site}.example/${photo}`, `${stack.site}/AAAAAAAAAA`];
  for (const url of [...elsewhere, `${stack.site}/`, 'no address']) expect((await ask(url)).status).toBe(404);
  // What leads to a page can be embedded as that can.
  const withSlash = `${stack.site}/${photo}/`;
  expect([(await fetch(withSlash)).status, (await ask(withSlash)).status]).toEqual([200, 200]);
});

test.each([
  [400, {}],
  [400, { url: '' }],
  [400, { url: 'x', maxwidth: '-5' }],
  [400, { url: 'x', maxheight: '1e3' }],
  [501, { url: 'x', format: 'jsonp' }],
])('%i is the answer to %j', async (status, query: Record<string, string>) => {
  const answer = await fetch(`${stack.site}/oembed?${new URLSearchParams(query)}`);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('cache-control')).toBe('no-cache');
});

test('a slash at the end of the address is no matter, for scripts of other sites too', async () => {
  const url = `${stack.site}/${photo}`;
  const answer = await fetch(`${stack.site}/oembed/?${new URLSearchParams({ url })}`, { redirect: 'error' });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
});

test('a question that names two addresses is malformed', async () => {
  expect((await fetch(`${stack.site}/oembed?url=a&url=b`)).status).toBe(400);
  expect((await fetch(`${stack.site}/oembed?url=a&maxwidth=1&maxwidth=2`)).status).toBe(400);
});

test('what was taken down is gone, also for its player', async () => {
  const id = await publishSample(store, await sampleVideo('mp4', { width: 320, height: 240 }), { type: 'mp4' });
  const record = await findRecord(store, id);
  if (!record || isTombstone(record)) throw new Error('no record');
  await removeMedia(store, record, { by: 'owner', at: new Date() });
  expect((await ask(`${stack.site}/${id}`)).status).toBe(410);
  expect((await fetch(`${stack.site}/${id}/player`)).status).toBe(410);
});

test('media of which nothing can be made is a link without pictures', async () => {
  const id = await publishSample(store, Buffer.from('\xff\xd8\xff but no picture', 'latin1'));
  const said = await oembed(id);
  expect(said.type).toBe('link');
  expect(Object.keys(said)).not.toContain('thumbnail_url');
});

test('no page but the player lets scripts of other sites read it', async () => {
  for (const path of [`/${photo}`, `/${video}`, `/${video}/player`, '/']) {
    expect((await fetch(stack.site + path)).headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('where pages name their oEmbed, readers that ask it first show the same', async () => {
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

test('an address of oEmbed that was found once serves for other media, as Mastodon keeps it', async () => {
  const page = await readAs(readers.mastodon, `${stack.site}/${photo}`);
  const found = oembedLinkOf(page, 'application/json+oembed') ?? '';
  const kept = found.replace(/(=(https?(%3A|:)(\/\/|%2F%2F)))([^&]*)/i, '={url}');
  expect(kept).toContain('url={url}&');
  const answer = await fetch(kept.replace('{url}', encodeURIComponent(`${stack.site}/${video}`)));
  expect(await answer.json()).toMatchObject({ type: 'video' });
});
