import { expect, test } from 'vitest';
import type { PublishedMedia } from './find-media.ts';
import { mediaPage, type Shown } from './media-page.ts';

const photo: PublishedMedia = {
  id: 'Ab3dE6gH9j',
  text: 'Lunch',
  width: 4000,
  height: 3000,
  size: 123,
  type: 'jpg',
  timestamp: new Date('2026-11-21T11:36:34Z'),
  user: { id: 12345n, screenName: 'ada' },
  mediaKey: '0'.repeat(32),
  etag: 'e',
  provider: 'https://id.example/verify',
  subject: '12345',
  application: 'test',
};
const film: PublishedMedia = { ...photo, type: 'mp4' };

function bodyOf(record: PublishedMedia, shown: Shown): string {
  return mediaPage(record, shown).body.toString();
}

test('a photo is shown with its caption, who and when', () => {
  const body = bodyOf(photo, { picture: 'ready' });
  expect(body).toContain('<img src="/Ab3dE6gH9j/large.jpg" width="4000" height="3000" alt="Lunch">');
  expect(body).toContain('<p class="caption" dir="auto">Lunch</p>');
  expect(body).toContain('<bdi>ada</bdi>');
  expect(body).toContain('<time datetime="2026-11-21T11:36:34.000Z">21 November 2026 at 11:36 UTC</time>');
});

test('media without a caption is described by its kind and user', () => {
  expect(bodyOf({ ...photo, text: ' \n' }, { picture: 'ready' })).toContain('alt="Photo by ada"');
  expect(mediaPage({ ...film, text: '' }, { picture: 'ready', film: 'ready' }).title).toBe('Film by ada');
  expect(bodyOf({ ...photo, text: '' }, { picture: 'ready' })).not.toContain('class="caption"');
});

test('a film plays in the page, with its poster once that is there', () => {
  const body = bodyOf(film, { picture: 'ready', film: 'ready' });
  expect(body).toMatch(/<video controls playsinline [^>]*poster="\/Ab3dE6gH9j\/large\.jpg">/);
  expect(body).toContain('<source src="/Ab3dE6gH9j/film.mp4" type="video/mp4">');
  expect(bodyOf(film, { picture: 'not_ready', film: 'ready' })).not.toContain('poster=');
});

test('what is not ready and what cannot be shown is said', () => {
  expect(bodyOf(photo, { picture: 'not_ready' })).toContain('This picture is still being made.');
  expect(bodyOf(photo, { picture: 'unsupported' })).toContain('This picture cannot be shown.');
  expect(bodyOf(film, { picture: 'unsupported', film: 'unsupported' })).toContain('This film cannot be shown.');
  const pending = bodyOf(film, { picture: 'ready', film: 'not_ready' });
  expect(pending).toContain('This film is still being made.');
  expect(pending).toContain('<img ');
  expect(pending).not.toContain('<video');
});

test('a long caption is cut in the title alone', () => {
  const text = 'word '.repeat(100);
  const { title, body } = mediaPage({ ...photo, text }, { picture: 'ready' });
  expect(title).toHaveLength(80);
  expect(title).toMatch(/…$/);
  expect(body.toString()).toContain(`>${text}<`);
});

test.each([
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></textarea></style><svg/onload=alert(1)>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '{{constructor.constructor("alert(1)")()}}',
  'javascript:alert(1)',
  '\u2028<iframe srcdoc="&lt;script&gt;">',
])('the caption %s stays text', (text) => {
  const tags = (record: PublishedMedia) => bodyOf(record, { picture: 'ready' }).match(/<[^>]*/g)?.length;
  expect(tags({ ...photo, text })).toBe(tags(photo));
  expect(tags({ ...photo, user: { id: 1n, screenName: text } })).toBe(tags(photo));
});
