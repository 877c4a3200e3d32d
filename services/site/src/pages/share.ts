import { escapeMarkdown } from '@echodrop/client/escape-markdown';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { pictureRecipes } from '@echodrop/media/rendition-recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import { directPath } from '../find/direct-address.ts';
import type { PublishedMedia } from '../find/find-media.ts';
import type { RenditionState } from '../find/find-rendition.ts';
import { type Html, html } from './html.ts';
import { labelOf } from './media-title.ts';
import { playerFrame } from './player-page.ts';

interface Options {
  readonly publicSite: string;
  readonly isAnimated: boolean;
  /** The state of what Download gives: the video, or the picture. */
  readonly state: RenditionState;
  /** Whether the browser reloads the page, which would close details that the reader has opened. */
  readonly isReloaded: boolean;
}

/** The script of the Copy buttons, for the head of a page with `share`. */
export const shareScripts: Html = html`<script src="/scripts/share-fields.js" type="module"></script>\n`;

/** The share section of a page: links and embed codes to copy, and a download. */
export function share(record: PublishedMedia, { publicSite, isAnimated, state, isReloaded }: Options): Html {
  const codes = shareCodes(record, publicSite, isAnimated);
  const [link, ...others] = codes.map(([name, value]) => {
    const id = `share-${name.toLowerCase().replace(' ', '-')}`;
    return html`<p class="field"><label for="${id}">${name}</label><input id="${id}" readonly value="${value}"></p>\n`;
  });
  return html`<section class="share" aria-labelledby="share">
<h2 id="share">Share</h2>
${link}${state === 'ready' ? html`<p class="download"><a class="button" href="${directPath(record)}" download>Download</a></p>\n` : undefined}${
  state === 'unsupported'
    ? undefined
    : html`<details${isReloaded ? html` open` : undefined}>
<summary>Direct link and embed codes</summary>
${others}</details>\n`
}</section>`;
}

function shareCodes(record: PublishedMedia, publicSite: string, isAnimated: boolean): (readonly [string, string])[] {
  const page = `${publicSite}/${record.id}`;
  const direct = `${publicSite}${directPath(record)}`;
  const picture = isAnimated ? direct : `${page}/large.jpg`;
  const label = labelOf(record);
  const { width, height } = pictureSize(pictureRecipes.large, record);
  const inHtml = isPhoto(record.type)
    ? html`<a href="${page}"><img src="${picture}" width="${width}" height="${height}" alt="${label}"></a>`
    : playerFrame(record, videoSize(record), publicSite);
  return [
    ['Link', page],
    ['Direct link', direct],
    ['Markdown', `[![${escapeMarkdown(label)}](${picture})](${page})`],
    ['HTML', inHtml.toString()],
    ['BBCode', `[url=${page}][img]${picture}[/img][/url]`],
  ];
}
