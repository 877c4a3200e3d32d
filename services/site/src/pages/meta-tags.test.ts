import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { PublishedMedia } from '../find/find-media.ts';
import { oembedLinkOf, readHtml } from '../read-html.fixture.ts';
import { html } from './html.ts';
import { metaTags } from './meta-tags.ts';
import { photo } from './photo.fixture.ts';

const video: PublishedMedia = { ...photo, type: 'webm', width: 3840, height: 2160 };
const site = { publicSite: 'https://pics.example', name: 'Pictures', hasOembedDiscovery: false };
const page = 'https://pics.example/Ab3dE6gH9j';

function pageOf(record: PublishedMedia, view: Parameters<typeof metaTags>[1], settings: Partial<typeof site> = {}) {
  const tags = metaTags(record, view, { ...site, ...settings });
  return readHtml(html`<!doctype html><head>${tags}</head>`.toString(), page);
}

function tagsOf(...args: Parameters<typeof pageOf>): Record<string, string> {
  const metas = pageOf(...args).elements.filter(({ name }) => name === 'meta');
  return Object.fromEntries(
    metas.map(({ attributes: { property, name, media, content } }) => [
      [property ?? name, ...(media ? [media] : [])].join(' '),
      content ?? '',
    ]),
  );
}

const commonTags = {
  description: 'Photo by ada, 21 November 2026',
  'og:type': 'website',
  'og:site_name': 'Pictures',
  'og:url': page,
  'og:title': 'Lunch',
  'og:description': 'Photo by ada, 21 November 2026',
  'theme-color (prefers-color-scheme: light)': '#fbfaf8',
  'theme-color (prefers-color-scheme: dark)': '#151517',
};
const imageTags = {
  'og:image': `${page}/large.jpg`,
  'og:image:type': 'image/jpeg',
  'og:image:width': '1200',
  'og:image:height': '900',
  'og:image:alt': 'Lunch',
  'twitter:image:alt': 'Lunch',
};

test('writes exactly these tags for a photo', () => {
  const expected = { ...commonTags, ...imageTags, 'twitter:card': 'summary_large_image' };
  expect(tagsOf(photo, { picture: 'ready' })).toEqual(expected);
  expect(tagsOf(photo, { picture: 'not_ready' })).toEqual(expected);
});

test('writes exactly these tags for a video', () => {
  expect(tagsOf(video, { picture: 'ready', video: 'not_ready' })).toEqual({
    ...commonTags,
    description: 'Video by ada, 21 November 2026',
    'og:type': 'video.other',
    ...imageTags,
    'og:description': 'Video by ada, 21 November 2026',
    'og:image:height': '675',
    'og:video': `${page}/video.mp4`,
    'og:video:secure_url': `${page}/video.mp4`,
    'og:video:type': 'video/mp4',
    'og:video:width': '1920',
    'og:video:height': '1080',
    'twitter:card': 'player',
    'twitter:player': `${page}/player`,
    'twitter:player:width': '1920',
    'twitter:player:height': '1080',
    'twitter:player:stream': `${page}/video.mp4`,
    'twitter:player:stream:content_type': 'video/mp4',
  });
});

test('omits secure_url for plain http', () => {
  const tags = tagsOf(video, { picture: 'ready', video: 'ready' }, { publicSite: 'http://pics.example' });
  expect(tags['og:video']).toBe('http://pics.example/Ab3dE6gH9j/video.mp4');
  expect(tags).not.toHaveProperty(['og:video:secure_url']);
});

test('omits unsupported renditions', () => {
  const nothing = tagsOf(photo, { picture: 'unsupported' });
  expect(nothing).toEqual({ ...commonTags, 'twitter:card': 'summary' });
  const posterAlone = tagsOf(video, { picture: 'ready', video: 'unsupported' });
  expect(posterAlone).toMatchObject({ 'og:type': 'website', 'twitter:card': 'summary_large_image' });
  expect(Object.keys(posterAlone).filter((name) => /video|player/.test(name))).toEqual([]);
});

test('the description complements the title', () => {
  const long = `${'A long story. '.repeat(12)}The end.`;
  const { 'og:title': title, description } = tagsOf({ ...photo, text: long }, { picture: 'ready' });
  expect(title).toBe(`${long.slice(0, 69).trimEnd()}…`);
  expect(description).toBe(long);
  expect(tagsOf({ ...photo, text: ' \n' }, { picture: 'ready' })).toMatchObject({
    'og:title': 'Photo by ada',
    'og:image:alt': 'Photo by ada',
  });
});

test('cuts a long alternative text to the 420 characters that X shows', () => {
  const { 'og:image:alt': alt } = tagsOf({ ...photo, alt: 'x'.repeat(1500) }, { picture: 'ready' });
  expect(alt).toBe(`${'x'.repeat(419)}…`);
});

test('links to oEmbed only with oEmbed discovery', () => {
  const view = { picture: 'ready' } as const;
  const types = ['application/json+oembed', 'text/xml+oembed'];
  expect(types.map((type) => oembedLinkOf(pageOf(photo, view), type))).toEqual([undefined, undefined]);
  const found = pageOf(photo, view, { hasOembedDiscovery: true });
  const address = 'https://pics.example/oembed?url=https%3A%2F%2Fpics.example%2FAb3dE6gH9j';
  expect(types.map((type) => oembedLinkOf(found, type))).toEqual([`${address}&format=json`, `${address}&format=xml`]);
});

test('the theme colours match the style sheet', async () => {
  const style = await readFile(new URL('../styles/frame.css', import.meta.url), 'utf8');
  const papers = [...style.matchAll(/--paper: (#[0-9a-f]{6});/g)].map(([, colour]) => colour);
  const tags = tagsOf(photo, { picture: 'ready' });
  expect(papers).toEqual([
    tags['theme-color (prefers-color-scheme: light)'],
    tags['theme-color (prefers-color-scheme: dark)'],
  ]);
});

test('cuts a long site name, which some readers reject', () => {
  const { 'og:site_name': name = '' } = tagsOf(photo, { picture: 'ready' }, { name: 'ウ'.repeat(200) });
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(253);
});
