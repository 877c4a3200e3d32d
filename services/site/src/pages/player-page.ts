import type { Size } from '@echodrop/media/size';
import type { PublishedMedia } from '../find/find-media.ts';
import type { MediaView } from '../find/find-view.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { labelOf, titleOf } from './media-title.ts';
import { stillProcessing } from './still-processing.ts';

/** The page for frames in other sites: a video that fills it, and the abuse contact, which opens in a new tab. */
export function playerPage(
  record: PublishedMedia,
  view: MediaView,
  { publicSite, abuseContact }: Pick<Site, 'publicSite' | 'abuseContact'>,
): Html {
  const title = titleOf(record);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="${publicSite}/${record.id}">
<link rel="stylesheet" href="/player.css">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
</head>
<body>
<main>
<h1>${title}</h1>
${view.video === 'ready' ? video(record, view) : notice(view)}
${abuseContact === undefined ? undefined : html`<a class="report" href="${abuseContact}" target="_blank" rel="noopener">Report abuse</a>\n`}</main>
</body>
</html>
`;
}

function video(record: PublishedMedia, { picture }: MediaView): Html {
  const { id } = record;
  const poster = picture === 'ready' ? html` poster="/${id}/large.jpg"` : undefined;
  return html`<video controls playsinline preload="metadata" aria-label="${labelOf(record)}"${poster}>
<source src="/${id}/video.mp4" type="video/mp4">
</video>`;
}

function notice({ video, progress }: MediaView): Html {
  if (video === 'unsupported') return html`<p>This video cannot be displayed.</p>`;
  return html`<p role="status">${stillProcessing('video', progress)}</p>`;
}

/** The embed code of a video: its player page in a frame. */
export function playerFrame(record: PublishedMedia, { width, height }: Size, publicSite: string): Html {
  const address = `${publicSite}/${record.id}/player`;
  return html`<iframe src="${address}" width="${width}" height="${height}" title="${labelOf(record)}" frameborder="0" allowfullscreen></iframe>`;
}
