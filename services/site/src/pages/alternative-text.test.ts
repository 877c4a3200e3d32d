import { expect, test } from 'vitest';
import type { PublishedMedia } from '../find/find-media.ts';
import { mediaPage } from './media-page.ts';
import { oembedOf } from './oembed.ts';
import { photo } from './photo.fixture.ts';
import { playerPage } from './player-page.ts';
import { userPage } from './user-page.ts';

const addresses = { publicSite: 'https://pics.example', name: 'Pictures', abuseContact: undefined };
const site = { ...addresses, robots: 'noindex', hasOembedDiscovery: false } as const;
const ready = { picture: 'ready', video: 'ready' } as const;
const described: PublishedMedia = { ...photo, alt: 'Two boats\n& a "dog" <b>' };
const video: PublishedMedia = { ...described, type: 'mp4' };
const escaped = 'Two boats &amp; a &quot;dog&quot; &lt;b&gt;';
const escapedTwice = 'Two boats &amp;amp; a &amp;quot;dog&amp;quot; &amp;lt;b&amp;gt;';

const pageOf = (record: PublishedMedia) => mediaPage(record, ready, site);
const bodyOf = (record: PublishedMedia) => pageOf(record).body.toString();
const uploads = { uploads: [{ record: described, thumb: 'ready' as const }], next: undefined };

test.each([
  ['a photo', bodyOf(described), `alt="${escaped}" fetchpriority="high"`],
  ['a tall photo', bodyOf({ ...described, width: 100, height: 900 }), `alt="${escaped}" fetchpriority="high"`],
  ['a video', bodyOf(video), `aria-label="${escaped}"`],
  ['a video in the player', playerPage(video, ready, site), `aria-label="${escaped}"`],
  ['a thumbnail', userPage('0', uploads, true, site).body, `alt="${escaped}"`],
  ['Open Graph', pageOf(described).head, `<meta property="og:image:alt" content="${escaped}">`],
  ['the HTML code', bodyOf(described), `alt=&quot;${escapedTwice}&quot;`],
  ['the HTML code of a video', bodyOf(video), `title=&quot;${escapedTwice}&quot;`],
  ['the Markdown code', bodyOf(described), '[![Two boats \\&amp; a &quot;dog&quot; \\&lt;b\\&gt;]('],
  ['the frame in oEmbed', oembedOf(video, ready, {}, site)['html'], `title="${escaped}"`],
])('%s has the alternative text', (_, shown, expected) => {
  expect(`${shown}`).toContain(expected);
});

test('oEmbed has the alternative text in addition to the title', () => {
  expect(oembedOf(described, ready, {}, site)).toMatchObject({ title: 'Lunch', alt: 'Two boats & a "dog" <b>' });
});

test('an invisible alternative text counts as none', () => {
  expect(bodyOf({ ...photo, alt: '\u200b' })).toContain('alt="Lunch"');
});
