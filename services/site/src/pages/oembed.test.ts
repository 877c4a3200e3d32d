import { expect, test } from 'vitest';
import type { PublishedMedia } from '../find/find-media.ts';
import { type MaxSize, oembedOf } from './oembed.ts';
import { photo as jpg } from './photo.fixture.ts';

const photo: PublishedMedia = { ...jpg, type: 'png' };
const video: PublishedMedia = { ...photo, type: 'mov', width: 1080, height: 1920 };
const site = { publicSite: 'https://pics.example', name: 'Pictures' };
const page = 'https://pics.example/Ab3dE6gH9j';
const ready = { picture: 'ready', video: 'ready' } as const;

test('describes a photo with all parameters of oEmbed', () => {
  expect(oembedOf(photo, { picture: 'ready' }, {}, site)).toEqual({
    version: '1.0',
    type: 'photo',
    url: `${page}/large.jpg`,
    width: 1200,
    height: 900,
    title: 'Lunch',
    author_name: 'ada',
    author_url: expect.stringMatching(/^https:\/\/pics\.example\/by\/[0-9a-f]{32}$/),
    provider_name: 'Pictures',
    provider_url: 'https://pics.example/',
    cache_age: 86_400,
    thumbnail_url: `${page}/large.jpg`,
    thumbnail_width: 1200,
    thumbnail_height: 900,
  });
});

test.each([
  [{ width: 5000 }, `${page}.png`, 4000, 3000],
  [{ width: 4000, height: 3000 }, `${page}.png`, 4000, 3000],
  [{ width: 4000, height: 2999 }, `${page}/large.jpg`, 1200, 900],
  [{ width: 640 }, `${page}/medium.jpg`, 640, 480],
  [{ width: 639 }, `${page}/small.jpg`, 320, 240],
  [{ width: 319 }, `${page}/thumb.jpg`, 150, 150],
  [{ height: 100 }, `${page}/mini.jpg`, 75, 75],
])('within %j, gives the largest picture that fits, with its own size', (max: MaxSize, url, width, height) => {
  const oembed = oembedOf(photo, { picture: 'ready' }, max, site);
  expect(oembed).toMatchObject({ type: 'photo', url, width, height });
  expect(oembed['thumbnail_width']).toBeLessThanOrEqual(max.width ?? Number.POSITIVE_INFINITY);
  expect(oembed['thumbnail_height']).toBeLessThanOrEqual(max.height ?? Number.POSITIVE_INFINITY);
});

test('the thumbnail fits too', () => {
  expect(oembedOf(video, ready, { width: 640 }, site)).toMatchObject({
    thumbnail_url: `${page}/medium.jpg`,
    thumbnail_width: 360,
    thumbnail_height: 640,
  });
});

test('a pending response is cached briefly', () => {
  const ages = [
    oembedOf(photo, { picture: 'not_ready' }, {}, site),
    oembedOf(video, { picture: 'ready', video: 'not_ready' }, {}, site),
    oembedOf(video, ready, {}, site),
  ].map((oembed) => oembed['cache_age']);
  expect(ages).toEqual([60, 60, 86_400]);
});

test('returns a link if no rendition fits or is supported', () => {
  const names = (oembed: object) => Object.keys(oembed).filter((name) => /url|width|height|html/.test(name));
  const tooNarrow = oembedOf(photo, { picture: 'ready' }, { width: 74 }, site);
  const broken = oembedOf(photo, { picture: 'unsupported' }, {}, site);
  for (const oembed of [tooNarrow, broken]) {
    expect(oembed).toMatchObject({ type: 'link', title: 'Lunch' });
    expect(names(oembed)).toEqual(['author_url', 'provider_url']);
  }
  expect(oembedOf(video, { picture: 'ready', video: 'unsupported' }, {}, site)).toMatchObject({
    type: 'link',
    thumbnail_url: `${page}/large.jpg`,
  });
});

test('keeps an animation unless it is too large', () => {
  const gif: PublishedMedia = { ...photo, type: 'gif', width: 1600, height: 900 };
  const moving = { picture: 'ready', isAnimated: true } as const;
  expect(oembedOf(gif, moving, {}, site)).toMatchObject({ url: `${page}.gif`, width: 1600, height: 900 });
  expect(oembedOf(gif, moving, { width: 1500 }, site)).toMatchObject({ url: `${page}/large.jpg`, width: 1200 });
});

test('names the displayed format of types that browsers do not support', () => {
  expect(oembedOf({ ...photo, type: 'heic', width: 800, height: 600 }, ready, {}, site)).toMatchObject({
    url: `${page}.jpg`,
    width: 800,
  });
});

test.each([
  [{}, 1080, 1920],
  [{ width: 540 }, 540, 960],
  [{ width: 10_000, height: 480 }, 270, 480],
  [{ width: 1, height: 1 }, 1, 1],
])('within %j, a video has a frame with its aspect ratio', (max, width, height) => {
  const oembed = oembedOf(video, ready, max, site);
  expect(oembed).toMatchObject({ type: 'video', width, height });
  expect(oembed['html']).toMatch(`<iframe src="${page}/player" width="${width}" height="${height}" title="Lunch"`);
  expect(oembed).not.toHaveProperty('url');
});

test('escapes the caption in the frame', () => {
  const { html } = oembedOf({ ...video, text: `"><script>alert('x')</script>` }, ready, {}, site);
  expect(html).not.toContain('<script>');
  expect(html).toContain('title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"');
});
