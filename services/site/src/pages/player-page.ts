import type { PublishedMedia } from '../find/find-media.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import type { Shown } from './media-page.ts';
import { titleOf } from './media-title.ts';

/** The page that other sites may frame: a video that fills it, and the way to the operator, in a tab of its own: links would open within the frame. */
export function playerPage(
  record: PublishedMedia,
  shown: Shown,
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
${shown.video === 'ready' ? video(record, shown, title) : notice(shown)}
${abuseContact === undefined ? undefined : html`<a class="report" href="${abuseContact}" target="_blank" rel="noopener">Report abuse</a>\n`}</main>
</body>
</html>
`;
}

function video({ id }: PublishedMedia, { picture }: Shown, title: string): Html {
  const poster = picture === 'ready' ? html` poster="/${id}/large.jpg"` : undefined;
  return html`<video controls playsinline preload="metadata" aria-label="${title}"${poster}>
<source src="/${id}/video.mp4" type="video/mp4">
</video>`;
}

function notice({ video, looksAgain = false }: Shown): Html {
  if (video === 'unsupported') return html`<p>This video cannot be shown.</p>`;
  return html`<p role="status">This video is still being processed. ${looksAgain ? 'It will show up here by itself.' : 'Please look again later.'}</p>`;
}
