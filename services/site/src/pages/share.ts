import { isPhoto } from '@echodrop/media/media-type';
import { pictureRecipes } from '@echodrop/media/recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import { directPath } from '../find/direct-address.ts';
import type { PublishedMedia } from '../find/find-media.ts';
import type { RenditionState } from '../find/find-rendition.ts';
import { type Html, html } from './html.ts';
import { titleOf } from './media-title.ts';
import { playerFrame } from './player-frame.ts';

interface Shared {
  /** Where people reach the site, without a slash at its end. */
  readonly publicSite: string;
  /** Whether the picture moves. */
  readonly isAnimated: boolean;
  /** How far that is which can be taken elsewhere. */
  readonly state: RenditionState;
  /** Whether the browser opens the page anew by itself, which would close what the reader has opened. */
  readonly looksAgain: boolean;
}

/** The part of a page from which its media is taken elsewhere: what to copy, and a download. */
export function share(record: PublishedMedia, { publicSite, isAnimated, state, looksAgain }: Shared): Html {
  const spelled = spellings(record, publicSite, isAnimated);
  const [link, ...others] = spelled.map(([name, value]) => {
    const id = `share-${name.toLowerCase().replace(' ', '-')}`;
    return html`<p class="field"><label for="${id}">${name}</label><input id="${id}" readonly value="${value}"></p>\n`;
  });
  return html`<section class="share" aria-labelledby="share">
<h2 id="share">Share</h2>
${link}${state === 'ready' ? html`<p class="download"><a class="button" href="${directPath(record)}" download>Download</a></p>\n` : undefined}${
  state === 'unsupported'
    ? undefined
    : html`<details${looksAgain ? html` open` : undefined}>
<summary>Direct link and embed codes</summary>
${others}</details>\n`
}</section>`;
}

function spellings(record: PublishedMedia, publicSite: string, isAnimated: boolean): (readonly [string, string])[] {
  const page = `${publicSite}/${record.id}`;
  const direct = `${publicSite}${directPath(record)}`;
  const picture = isAnimated ? direct : `${page}/large.jpg`;
  const title = titleOf(record);
  const { width, height } = pictureSize(pictureRecipes.large, record);
  const inHtml = isPhoto(record.type)
    ? html`<a href="${page}"><img src="${picture}" width="${width}" height="${height}" alt="${title}"></a>`
    : playerFrame(record, videoSize(record), publicSite);
  return [
    ['Link', page],
    ['Direct link', direct],
    ['Markdown', `[![${inMarkdown(title)}](${picture})](${page})`],
    ['HTML', inHtml.toString()],
    ['BBCode', `[url=${page}][img]${picture}[/img][/url]`],
  ];
}

// Any punctuation of ASCII may be escaped (CommonMark 0.31 section 2.4); these mean something within a link.
function inMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>&~!|]/g, '\\$&');
}
