import { isPhoto } from '@echodrop/media/media-type';
import { pictureRecipes, videoRecipe } from '@echodrop/media/recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import type { PublishedMedia } from '../find/find-media.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import type { Shown } from './media-page.ts';
import { bylineOf, captionOf, oneLine, titleOf } from './media-title.ts';

/** How far the renditions are: what cannot be made is not named. */
type Made = Pick<Shown, 'picture' | 'video'>;
type Named = Pick<Site, 'publicSite' | 'name' | 'hasOembedDiscovery'>;

const { large } = pictureRecipes;
// Discord shows nothing of a site whose name has more than 253 bytes.
const longestSiteName = 80;
const longestDescription = 300;
const longestAlt = 420;

/**
 * What the head of a media's page tells other sites, but for the page's `title` (`titleOf` is its text): canonical address, description, Open
 * Graph (ogp.me), Twitter card, theme colour and, where it is on, the oEmbed address. All addresses are absolute. No JSON-LD: Mastodon would
 * let it override the rest.
 */
export function metaTags(record: PublishedMedia, shown: Made, site: Named): Html {
  const page = `${site.publicSite}/${record.id}`;
  const description = descriptionOf(record);
  const hasPicture = shown.picture !== 'unsupported';
  const hasVideo = !isPhoto(record.type) && shown.video !== 'unsupported';
  return html`<link rel="canonical" href="${page}">
<meta name="description" content="${description}">
<meta property="og:type" content="${hasVideo ? 'video.other' : 'website'}">
<meta property="og:site_name" content="${oneLine(site.name, longestSiteName)}">
<meta property="og:url" content="${page}">
<meta property="og:title" content="${titleOf(record)}">
<meta property="og:description" content="${description}">
${hasPicture ? imageTags(record, page) : undefined}${hasVideo ? videoTags(record, page) : undefined}<meta name="twitter:card" content="${cardOf(hasPicture, hasVideo)}">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#fbfaf8">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#151517">
${site.hasOembedDiscovery ? oembedLinks(record, page, site) : undefined}`;
}

// Who reads only the title and this should learn whose it is, or the rest of what was said.
function descriptionOf(record: PublishedMedia): string {
  const caption = captionOf(record, longestDescription);
  if (caption !== undefined && caption !== titleOf(record)) return caption;
  return `${bylineOf(record)}, ${spelled.format(record.timestamp)}`;
}

const spelled = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function cardOf(hasPicture: boolean, hasVideo: boolean): string {
  if (hasVideo) return 'player';
  return hasPicture ? 'summary_large_image' : 'summary';
}

function imageTags(record: PublishedMedia, page: string): Html {
  const { width, height } = pictureSize(large, record);
  return html`<meta property="og:image" content="${page}/large.jpg">
<meta property="og:image:type" content="${large.contentType}">
<meta property="og:image:width" content="${width}">
<meta property="og:image:height" content="${height}">
<meta property="og:image:alt" content="${captionOf(record, longestAlt) ?? bylineOf(record)}">
`;
}

function videoTags(record: PublishedMedia, page: string): Html {
  const { width, height } = videoSize(record);
  const video = `${page}/video.mp4`;
  return html`<meta property="og:video" content="${video}">
${video.startsWith('https:') ? html`<meta property="og:video:secure_url" content="${video}">\n` : undefined}<meta property="og:video:type" content="${videoRecipe.contentType}">
<meta property="og:video:width" content="${width}">
<meta property="og:video:height" content="${height}">
<meta name="twitter:player" content="${page}/player">
<meta name="twitter:player:width" content="${width}">
<meta name="twitter:player:height" content="${height}">
<meta name="twitter:player:stream" content="${video}">
<meta name="twitter:player:stream:content_type" content="${videoRecipe.contentType}">
`;
}

function oembedLinks(record: PublishedMedia, page: string, { publicSite }: Named): Html {
  const address = `${publicSite}/oembed?url=${encodeURIComponent(page)}`;
  const title = titleOf(record);
  return html`<link rel="alternate" type="application/json+oembed" href="${address}&format=json" title="${title}">
<link rel="alternate" type="text/xml+oembed" href="${address}&format=xml" title="${title}">
`;
}
