import type { PublishedMedia } from './find-media.ts';
import type { RenditionState } from './find-rendition.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';

/** How far the renditions are that the page shows. */
export interface Shown {
  readonly picture: RenditionState;
  /** For films alone. */
  readonly film?: RenditionState;
}

/** The page behind a record's `url`: the picture or film, the caption, who and when. */
export function mediaPage(record: PublishedMedia, shown: Shown): Page {
  const { text, user, timestamp } = record;
  const description = text.trim() || `${shown.film === undefined ? 'Photo' : 'Film'} by ${user.screenName}`;
  return {
    title: shortened(description),
    body: html`<figure>
${shown.film === undefined ? picture(record, shown.picture, description) : film(record, shown.film, shown.picture, description)}
<figcaption>
${text.trim() ? html`<p class="caption" dir="auto">${text}</p>\n` : undefined}<p class="byline"><bdi>${user.screenName}</bdi>, ${time(timestamp)}</p>
</figcaption>
</figure>`,
  };
}

const longestTitle = 80;

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const letters = Array.from(line);
  return letters.length > longestTitle ? `${letters.slice(0, longestTitle - 1).join('')}…` : line;
}

function picture({ id, width, height }: PublishedMedia, state: RenditionState, description: string): Html {
  if (state !== 'ready') return notice(state, 'picture');
  return html`<img src="/${id}/large.jpg" width="${width}" height="${height}" alt="${description}">`;
}

function film(record: PublishedMedia, state: RenditionState, poster: RenditionState, description: string): Html {
  const { id, width, height } = record;
  const isPosterReady = poster === 'ready';
  if (state !== 'ready') {
    return html`${isPosterReady ? picture(record, poster, description) : undefined}${notice(state, 'film')}`;
  }
  return html`<video controls playsinline preload="metadata" width="${width}" height="${height}"${isPosterReady ? html` poster="/${id}/large.jpg"` : undefined}>
<source src="/${id}/film.mp4" type="video/mp4">
</video>`;
}

function notice(state: 'not_ready' | 'unsupported', what: 'picture' | 'film'): Html {
  return state === 'unsupported'
    ? html`<p class="notice">This ${what} cannot be shown.</p>`
    : html`<p class="notice" role="status">This ${what} is still being made. Please look again in a moment.</p>`;
}

const spelled = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function time(timestamp: Date): Html {
  return html`<time datetime="${timestamp.toISOString()}">${spelled.format(timestamp)} UTC</time>`;
}
