import { ownerHash } from '@echodrop/archive/owner';
import { expect, test } from 'vitest';
import type { PublishedMedia } from '../find/find-media.ts';
import type { MediaView } from '../find/find-view.ts';
import { mediaPage } from './media-page.ts';
import { photo } from './photo.fixture.ts';

const video: PublishedMedia = { ...photo, type: 'mp4' };

const site = {
  publicSite: 'https://pictures.example',
  name: 'Echodrop',
  robots: 'noindex',
  hasOembedDiscovery: false,
} as const;

function bodyOf(record: PublishedMedia, view: MediaView): string {
  return mediaPage(record, view, site).body.toString();
}

test('shows a photo with caption, user and time', () => {
  const body = bodyOf(photo, { picture: 'ready' });
  expect(body).toContain('<img src="/Ab3dE6gH9j/large.jpg" width="1200" height="900" alt="Lunch" ');
  expect(body).toContain('<p class="caption" dir="auto">Lunch</p>');
  expect(body).toContain(`by <a href="/by/${ownerHash(photo)}" rel="author"><bdi>ada</bdi></a>`);
  expect(body).toContain('<time datetime="2026-11-21T11:36:34.000Z">21 November 2026 at 11:36 UTC</time>');
});

test.each([
  [4000, 3000, 'medium.webp 640w, /Ab3dE6gH9j/large.webp 1200w'],
  [3000, 4000, 'medium.webp 480w, /Ab3dE6gH9j/large.webp 900w'],
  [800, 600, 'medium.webp 640w, /Ab3dE6gH9j/large.webp 800w'],
  [640, 480, 'large.webp 640w'],
  [9000, 1, 'medium.webp 640w, /Ab3dE6gH9j/large.webp 1200w'],
])('lists the true widths of a photo of %i x %i', (width, height, candidates) => {
  const body = bodyOf({ ...photo, width, height }, { picture: 'ready' });
  expect(body).toContain(`<source srcset="/Ab3dE6gH9j/${candidates}" sizes="`);
});

test('shows a tall picture whole, in its own width', () => {
  const body = bodyOf({ ...photo, width: 1080, height: 12_000 }, { picture: 'ready' });
  expect(body).toContain('<img class="tall" src="/Ab3dE6gH9j.jpg" width="1080" height="12000" alt="Lunch" ');
  expect(bodyOf({ ...photo, width: 1000, height: 3000 }, { picture: 'ready' })).not.toContain('class="tall"');
});

test('gives browsers the width of the picture before they have the style', () => {
  expect(bodyOf(photo, { picture: 'ready' })).toContain(
    ' sizes="min(100vw, 1200px, max(70vh, 100vh - 13rem) * 1.3333)" type="image/webp">',
  );
});

test('describes media without a caption by type and user', () => {
  expect(bodyOf({ ...photo, text: ' \n' }, { picture: 'ready' })).toContain('alt="Photo by ada"');
  expect(mediaPage({ ...video, text: '' }, { picture: 'ready', video: 'ready' }, site).title).toBe('Video by ada');
  expect(bodyOf({ ...photo, text: '' }, { picture: 'ready' })).not.toContain('class="caption"');
});

test('plays a video, with its poster if that is ready', () => {
  const body = bodyOf(video, { picture: 'ready', video: 'ready' });
  expect(body).toMatch(/<video controls playsinline [^>]*poster="\/Ab3dE6gH9j\/large\.jpg">/);
  expect(body).toContain('<source src="/Ab3dE6gH9j/video.mp4" type="video/mp4">');
  expect(bodyOf(video, { picture: 'not_ready', video: 'ready' })).not.toContain('poster=');
});

test('shows an animation whole, except with reduced motion', () => {
  const body = bodyOf({ ...photo, type: 'gif' }, { picture: 'ready', isAnimated: true });
  expect(body).toContain('<img src="/Ab3dE6gH9j.gif" ');
  expect(body).toContain('type="image/webp" media="(prefers-reduced-motion: reduce)">');
});

test('keeps details open that a reload would close', () => {
  expect(bodyOf(video, { picture: 'ready', video: 'not_ready' })).toContain('<details open>');
  expect(bodyOf(video, { picture: 'not_ready', video: 'ready' })).toContain('<details>');
});

test('offers links, embed codes and a download', () => {
  const valuesIn = (body: string) =>
    [...body.matchAll(/<label for="([\w-]+)">([^<]+)<\/label><input id="\1" readonly value="([^"]*)">/g)].map(
      ([, , label, value]) => [label, value],
    );
  const page = 'https://pictures.example/Ab3dE6gH9j';
  const body = bodyOf({ ...photo, type: 'heic', text: '[Lunch](x) & "tea"' }, { picture: 'ready' });
  expect(valuesIn(body)).toEqual([
    ['Link', page],
    ['Direct link', `${page}.jpg`],
    ['Markdown', `[![\\[Lunch\\](x) \\&amp; &quot;tea&quot;](${page}/large.jpg)](${page})`],
    [
      'HTML',
      `&lt;a href=&quot;${page}&quot;&gt;&lt;img src=&quot;${page}/large.jpg&quot; width=&quot;1200&quot; height=&quot;900&quot; alt=&quot;[Lunch](x) &amp;amp; &amp;quot;tea&amp;quot;&quot;&gt;&lt;/a&gt;`,
    ],
    ['BBCode', `[url=${page}][img]${page}/large.jpg[/img][/url]`],
  ]);
  expect(body).toContain('<a class="button" href="/Ab3dE6gH9j.jpg" download>Download</a>');

  const ofVideo = bodyOf({ ...video, type: 'mov' }, { picture: 'ready', video: 'ready' });
  expect(valuesIn(ofVideo)).toContainEqual(['Direct link', `${page}.mp4`]);
  expect(ofVideo).toContain(`&lt;iframe src=&quot;${page}/player&quot;`);
  expect(ofVideo).toContain('<a class="button" href="/Ab3dE6gH9j.mp4" download>Download</a>');
  expect(bodyOf(video, { picture: 'ready', video: 'not_ready' })).not.toContain(' download>');
});

test('reports media that is not ready or unsupported', () => {
  expect(bodyOf(photo, { picture: 'not_ready' })).toContain(
    'This picture is still being processed. It will appear here automatically.',
  );
  const broken = bodyOf(photo, { picture: 'unsupported' });
  expect(broken).toContain('This picture cannot be displayed.');
  expect(broken).not.toMatch(/embed codes|large\.jpg|download/);
  expect(bodyOf(video, { picture: 'unsupported', video: 'unsupported' })).toContain('This video cannot be displayed.');
  const pending = bodyOf(video, { picture: 'ready', video: 'not_ready' });
  expect(pending).toContain('This video is still being processed.');
  expect(pending).toContain('<img ');
  expect(pending).not.toContain('<video');
});

test('cuts a long caption in the title only', () => {
  const text = 'word '.repeat(100);
  const { title, body } = mediaPage({ ...photo, text }, { picture: 'ready' }, site);
  expect(title.length).toBeLessThanOrEqual(80);
  expect(title).toMatch(/…$/);
  expect(body.toString()).toContain(`>${text.trim()}<`);
});
