import { ownerHash } from '@echodrop/archive/owner';
import { isPhoto } from '@echodrop/media/media-type';
import { fullRecipe, pictureRecipes } from '@echodrop/media/recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import type { Size } from '@echodrop/media/size';
import { directPath } from '../find/direct-address.ts';
import type { PublishedMedia } from '../find/find-media.ts';
import type { RenditionState } from '../find/find-rendition.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { linkedText } from './linked-text.ts';
import { bylineOf, captionOf, nameOf, titleOf } from './media-title.ts';
import { metaTags } from './meta-tags.ts';
import type { Page } from './page.ts';
import { share } from './share.ts';

/** How far the renditions are that the page shows. */
export interface Shown {
  /** Of the picture that the page shows. */
  readonly picture: RenditionState;
  /** For videos alone. */
  readonly video?: RenditionState;
  /** Whether the medium picture is there too, for photos alone. */
  readonly hasMedium?: boolean;
  /** Whether the picture moves, which only the whole one does. */
  readonly isAnimated?: boolean;
  /** Whether the browser looks again by itself where something is not ready. */
  readonly looksAgain?: boolean;
}

type Named = Pick<Site, 'publicSite' | 'name' | 'robots' | 'hasOembedDiscovery'>;

const longestAlt = 420;

/** The page behind a record's `url`: the picture or video, the caption, who and when, and how to share it. */
export function mediaPage(record: PublishedMedia, shown: Shown, site: Named): Page {
  const { type, text, timestamp } = record;
  const { isAnimated = false, looksAgain = false } = shown;
  const state = shown.video ?? shown.picture;
  return {
    title: titleOf(record),
    head: metaTags(record, shown, site),
    robots: site.robots,
    body: html`<div class="stage">
${isPhoto(type) ? photo(record, shown) : video(record, shown)}
</div>
<div class="about">
<div class="words">
<h1>${isPhoto(type) ? 'Photo' : 'Video'} by <a href="/by/${ownerHash(record)}" rel="author"><bdi>${nameOf(record)}</bdi></a></h1>
${captionOf(record, longestAlt) ? html`<p class="caption" dir="auto">${linkedText(text.trim())}</p>\n` : undefined}<p class="when">${time(timestamp)}</p>
</div>
${share(record, { publicSite: site.publicSite, isAnimated, state, looksAgain })}
</div>`,
  };
}

function photo(record: PublishedMedia, shown: Shown): Html {
  if (shown.picture !== 'ready') return notice(shown.picture, 'picture', record, shown);
  return html`<a class="whole" href="${directPath(record)}">${picture(record, shown)}</a>`;
}

function video(record: PublishedMedia, shown: Shown): Html {
  const { video: state = 'not_ready' } = shown;
  const isPosterReady = shown.picture === 'ready';
  if (state !== 'ready') {
    return html`${isPosterReady ? picture(record, shown) : undefined}${notice(state, 'video', record, shown)}`;
  }
  const { width, height } = videoSize(record);
  const poster = isPosterReady ? html` poster="/${record.id}/large.jpg"` : undefined;
  return html`<video controls playsinline preload="metadata" width="${width}" height="${height}" aria-label="${altOf(record)}"${poster}>
<source src="/${record.id}/video.mp4" type="video/mp4">
</video>`;
}

/** Whether the page shows the whole picture: within the window's height nobody could read a long screenshot. */
export function isTall({ type, width, height }: PublishedMedia): boolean {
  return isPhoto(type) && height > 3 * width;
}

// People who asked their system for less motion get the picture that stands still.
function picture(record: PublishedMedia, { isAnimated, hasMedium = false }: Shown): Html {
  const { id } = record;
  if (isTall(record)) {
    const whole = pictureSize(fullRecipe(record.type), record);
    return html`<img class="tall" src="${directPath(record)}" width="${whole.width}" height="${whole.height}" alt="${altOf(record)}" fetchpriority="high">`;
  }
  const { width, height } = pictureSize(pictureRecipes.large, record);
  const still = isAnimated ? html` media="(prefers-reduced-motion: reduce)"` : undefined;
  const source = isAnimated ? directPath(record) : `/${id}/large.jpg`;
  return html`<picture>
<source srcset="${candidates(record, hasMedium)}" sizes="${widthShown({ width, height })}" type="image/webp"${still}>
<img src="${source}" width="${width}" height="${height}" alt="${altOf(record)}" fetchpriority="high"${isAnimated ? html` class="moving"` : undefined}>
</picture>`;
}

// A small picture is the same in both sizes.
function candidates(record: PublishedMedia, hasMedium: boolean): string {
  const { mediumWebp, largeWebp } = pictureRecipes;
  const widths = [...(hasMedium ? [mediumWebp] : []), largeWebp].map(
    (recipe) => [pictureSize(recipe, record).width, `/${record.id}/${recipe.name}.${recipe.extension}`] as const,
  );
  return [...new Map(widths)].map(([width, path]) => `${path} ${width}w`).join(', ');
}

// What the style makes of it: as wide as it is, or as the window, or as lets it stand in the window as a whole.
function widthShown({ width, height }: Size): string {
  return `min(100vw, ${width}px, max(70vh, 100vh - 13rem) * ${Number((width / height).toFixed(4))})`;
}

function altOf(record: PublishedMedia): string {
  return captionOf(record, longestAlt) ?? bylineOf(record);
}

function notice(
  state: 'not_ready' | 'unsupported',
  what: 'picture' | 'video',
  { id }: PublishedMedia,
  { looksAgain = false }: Shown,
): Html {
  if (state === 'unsupported') return html`<p class="notice">This ${what} cannot be shown.</p>`;
  return html`<p class="notice pending" role="status">This ${what} is still being processed. ${
    looksAgain ? 'It will show up here by itself.' : html`Please <a href="/${id}">look again</a> later.`
  }</p>`;
}

const spelled = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function time(timestamp: Date): Html {
  return html`<time datetime="${timestamp.toISOString()}">${spelled.format(timestamp)} UTC</time>`;
}
