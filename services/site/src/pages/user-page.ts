import { isPhoto } from '@echodrop/media/detect-media-type';
import type { PublishedMedia } from '../find/find-media.ts';
import type { RenditionState } from '../find/find-rendition.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { alternativeTextOf, bylineOf, captionOf, nameOf } from './media-title.ts';
import type { Page } from './page.ts';

export interface UserUpload {
  readonly record: PublishedMedia;
  readonly thumb: RenditionState;
}

export interface UserUploads {
  readonly uploads: readonly UserUpload[];
  /** The cursor of older uploads. */
  readonly next: string | undefined;
}

/** The page of a user's uploads: thumbnails, newest first. `isFirst`: there are no newer ones. */
export function userPage(
  owner: string,
  { uploads, next }: UserUploads,
  isFirst: boolean,
  { name, robots }: Pick<Site, 'name' | 'robots'>,
): Page {
  const userName = uploads[0] ? nameOf(uploads[0].record) : 'someone';
  const older = next && html`<a class="button" href="${olderPath(owner, next)}" rel="next">Older</a>`;
  const newest = isFirst ? undefined : html`<a class="button" href="/by/${owner}">Newest</a>`;
  return {
    title: `Uploads by ${userName} · ${name}`,
    robots,
    isShared: true,
    body: html`<div class="uploads">
<h1>Uploads by <bdi>${userName}</bdi></h1>
<ul class="grid">
${uploads.map(item)}</ul>
${newest || older ? html`<nav class="pages" aria-label="Pages">${newest} ${older}</nav>` : undefined}
</div>`,
  };
}

export function olderPath(owner: string, after: string): string {
  return `/by/${owner}?after=${after}`;
}

const maxLabel = 80;
const stateLabels = { not_ready: 'Processing', unsupported: 'Cannot be displayed' };

function item({ record, thumb }: UserUpload): Html {
  const title = captionOf(record, maxLabel) ?? bylineOf(record);
  return html`<li><a href="/${record.id}">${
    thumb === 'ready'
      ? picture(record, alternativeTextOf(record, maxLabel) ?? title)
      : html`<span class="unshown"><bdi>${title}</bdi> <small>${stateLabels[thumb]}</small></span>`
  }</a></li>\n`;
}

function picture({ id, type }: PublishedMedia, alt: string): Html {
  const kind = isPhoto(type) ? undefined : html`<span class="kind">Video</span>`;
  return html`<img src="/${id}/thumb.jpg" width="150" height="150" alt="${alt}" loading="lazy">${kind}`;
}
