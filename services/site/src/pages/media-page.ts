import { ownerHash } from '@echodrop/archive/owner';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { fullRecipe, pictureRecipes } from '@echodrop/media/rendition-recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import type { Size } from '@echodrop/media/size';
import { directPath } from '../find/direct-address.ts';
import type { PublishedMedia } from '../find/find-media.ts';
import type { NoRendition } from '../find/find-rendition.ts';
import { isReloaded, isTall, type MediaView } from '../find/find-view.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { linkedText } from './linked-text.ts';
import { alternativeTextOf, bylineOf, captionOf, nameOf, titleOf } from './media-title.ts';
import { metaTags } from './meta-tags.ts';
import { type Page, pagePolicy } from './page.ts';
import { share, shareScripts } from './share.ts';
import { stillProcessing } from './still-processing.ts';

type SiteInfo = Pick<Site, 'publicSite' | 'name' | 'robots' | 'hasOembedDiscovery'>;

const maxAlt = 420;
const policy = pagePolicy({ frameAncestors: "'none'", scripts: {} });

/** The page of a record: the picture or video, caption, user, time and share section. */
export function mediaPage(record: PublishedMedia, view: MediaView, site: SiteInfo): Page {
  const { type, text, timestamp } = record;
  const { isAnimated = false } = view;
  const state = view.video ?? view.picture;
  return {
    title: titleOf(record),
    head: html`${metaTags(record, view, site)}${shareScripts}`,
    policy,
    robots: site.robots,
    isShared: true,
    body: html`<div class="stage">
${isPhoto(type) ? photo(record, view) : video(record, view)}
</div>
<div class="about">
<div class="words">
<h1>${isPhoto(type) ? 'Photo' : 'Video'} by <a href="/by/${ownerHash(record)}" rel="author"><bdi>${nameOf(record)}</bdi></a></h1>
${captionOf(record, maxAlt) ? html`<p class="caption" dir="auto">${linkedText(text.trim())}</p>\n` : undefined}<p class="when">${time(timestamp)}</p>
</div>
${share(record, { publicSite: site.publicSite, isAnimated, state, isReloaded: isReloaded(view) })}
</div>`,
  };
}

function photo(record: PublishedMedia, view: MediaView): Html {
  if (view.picture !== 'ready') return notice(view.picture, 'picture', view);
  return html`<a class="whole" href="${directPath(record)}">${picture(record, view)}</a>`;
}

function video(record: PublishedMedia, view: MediaView): Html {
  const { video: state = 'not_ready' } = view;
  const isPosterReady = view.picture === 'ready';
  if (state !== 'ready') {
    return html`${isPosterReady ? picture(record, view) : undefined}${notice(state, 'video', view)}`;
  }
  const { width, height } = videoSize(record);
  const poster = isPosterReady ? html` poster="/${record.id}/large.jpg"` : undefined;
  return html`<video controls playsinline preload="metadata" width="${width}" height="${height}" aria-label="${altOf(record)}"${poster}>
<source src="/${record.id}/video.mp4" type="video/mp4">
</video>`;
}

// With reduced motion, browsers show the still picture.
function picture(record: PublishedMedia, { isAnimated }: MediaView): Html {
  const { id } = record;
  if (isTall(record)) {
    const whole = pictureSize(fullRecipe(record.type), record);
    return html`<img class="tall" src="${directPath(record)}" width="${whole.width}" height="${whole.height}" alt="${altOf(record)}" fetchpriority="high">`;
  }
  const { width, height } = pictureSize(pictureRecipes.large, record);
  const still = isAnimated ? html` media="(prefers-reduced-motion: reduce)"` : undefined;
  const source = isAnimated ? directPath(record) : `/${id}/large.jpg`;
  return html`<picture>
<source srcset="${candidates(record)}" sizes="${cssWidth({ width, height })}" type="image/webp"${still}>
<img src="${source}" width="${width}" height="${height}" alt="${altOf(record)}" fetchpriority="high"${isAnimated ? html` class="moving"` : undefined}>
</picture>`;
}

// The map merges sizes of equal width, which small pictures have.
function candidates(record: PublishedMedia): string {
  const { mediumWebp, largeWebp } = pictureRecipes;
  const widths = [mediumWebp, largeWebp].map(
    (recipe) => [pictureSize(recipe, record).width, `/${record.id}/${recipe.name}.${recipe.extension}`] as const,
  );
  return [...new Map(widths)].map(([width, path]) => `${path} ${width}w`).join(', ');
}

/** The CSS width of a picture, like in media-page.css: its own, at most the window's, and so that its height fits. */
function cssWidth({ width, height }: Size): string {
  return `min(100vw, ${width}px, max(70vh, 100vh - 13rem) * ${Number((width / height).toFixed(4))})`;
}

function altOf(record: PublishedMedia): string {
  return alternativeTextOf(record) ?? captionOf(record, maxAlt) ?? bylineOf(record);
}

function notice(state: NoRendition, what: 'picture' | 'video', { progress }: MediaView): Html {
  if (state === 'unsupported') return html`<p class="notice">This ${what} cannot be displayed.</p>`;
  return html`<p class="notice pending" role="status">${stillProcessing(what, progress)}</p>`;
}

const spelled = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function time(timestamp: Date): Html {
  return html`<time datetime="${timestamp.toISOString()}">${spelled.format(timestamp)} UTC</time>`;
}
