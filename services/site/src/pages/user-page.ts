import { isPhoto } from '@echodrop/media/media-type';
import type { PublishedMedia } from '../find/find-media.ts';
import type { RenditionState } from '../find/find-rendition.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { bylineOf, captionOf } from './media-title.ts';
import type { Page } from './page.ts';

/** An upload on such a page. */
export interface UserUpload {
  readonly record: PublishedMedia;
  /** How far its small picture is. */
  readonly thumb: RenditionState;
}

/** One page of a user's uploads. */
export interface UserUploads {
  readonly owner: string;
  /** As the newest of these uploads has it. */
  readonly userName: string | undefined;
  readonly uploads: readonly UserUpload[];
  /** Whether these are the newest. */
  readonly isFirst: boolean;
  /** The cursor of older ones. */
  readonly next: string | undefined;
}

/** The page behind a user's name: small pictures of the uploads, newest first. */
export function userPage(shown: UserUploads, { name, robots }: Pick<Site, 'name' | 'robots'>): Page {
  const { owner, userName = 'someone', uploads, isFirst, next } = shown;
  const older =
    next === undefined ? undefined : html`<a class="button" href="${olderPath(owner, next)}" rel="next">Older</a>`;
  const newest = isFirst ? undefined : html`<a class="button" href="/by/${owner}">Newest</a>`;
  return {
    title: `Uploads by ${userName} · ${name}`,
    robots,
    body: html`<div class="uploads">
<h1>Uploads by <bdi>${userName}</bdi></h1>
<ul class="grid">
${uploads.map(item)}</ul>
${newest || older ? html`<nav class="pages" aria-label="Pages">${newest} ${older}</nav>` : undefined}
</div>`,
  };
}

/** The address of a user's uploads from the cursor `after` on. */
export function olderPath(owner: string, after: string): string {
  return `/by/${owner}?after=${after}`;
}

const longestAlt = 80;
const withoutPicture = { not_ready: 'Processing', unsupported: 'Cannot be displayed' };

function item({ record, thumb }: UserUpload): Html {
  const title = captionOf(record, longestAlt) ?? bylineOf(record);
  return html`<li><a href="/${record.id}">${
    thumb === 'ready'
      ? picture(record, title)
      : html`<span class="unshown"><bdi>${title}</bdi> <small>${withoutPicture[thumb]}</small></span>`
  }</a></li>\n`;
}

function picture({ id, type }: PublishedMedia, alt: string): Html {
  const kind = isPhoto(type) ? undefined : html`<span class="kind">Video</span>`;
  return html`<img src="/${id}/thumb.jpg" width="150" height="150" alt="${alt}" loading="lazy">${kind}`;
}
