import { isPhoto } from '@echodrop/media/media-type';
import type { PublishedMedia } from './find-media.ts';
import { type Html, html } from './html.ts';
import { bylineOf, captionOf } from './media-title.ts';
import type { Page } from './page.ts';
import type { Site } from './site.ts';

/** One page of a user's uploads. */
export interface UserUploads {
  readonly owner: string;
  /** As the newest of these uploads has it. */
  readonly userName: string | undefined;
  readonly media: readonly PublishedMedia[];
  /** Whether these are the newest. */
  readonly isFirst: boolean;
  /** The cursor of older ones. */
  readonly next: string | undefined;
}

/** The page behind a user's name: small pictures of the uploads, newest first. */
export function userPage(uploads: UserUploads, { name, robots }: Pick<Site, 'name' | 'robots'>): Page {
  const { owner, userName = 'someone', media, isFirst, next } = uploads;
  const older =
    next === undefined ? undefined : html`<a class="button" href="/by/${owner}?after=${next}" rel="next">Older</a>`;
  const newest = isFirst ? undefined : html`<a class="button" href="/by/${owner}">Newest</a>`;
  return {
    title: `Uploads by ${userName} · ${name}`,
    robots,
    body: html`<div class="uploads">
<h1>Uploads by <bdi>${userName}</bdi></h1>
<ul class="grid">
${media.map(item)}</ul>
${newest || older ? html`<nav class="pages" aria-label="Pages">${newest} ${older}</nav>` : undefined}
</div>`,
  };
}

const longestAlt = 80;

function item(record: PublishedMedia): Html {
  const alt = captionOf(record, longestAlt) ?? bylineOf(record);
  const kind = isPhoto(record.type) ? undefined : html`<span class="kind">Film</span>`;
  return html`<li><a href="/${record.id}"><img src="/${record.id}/thumb.jpg" width="150" height="150" alt="${alt}" loading="lazy">${kind}</a></li>\n`;
}
