import { contentTypeOf, isPhoto } from '@echodrop/media/detect-media-type';
import { pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import type { PublishedMedia } from '../find/find-media.ts';
import type { MediaView } from '../find/find-view.ts';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { alternativeTextOf, bylineOf, captionOf, oneLine, titleOf } from './media-title.ts';

type SiteInfo = Pick<Site, 'publicSite' | 'name' | 'hasOembedDiscovery'>;

const { large } = pictureRecipes;
// Discord ignores pages with a site name of more than 253 bytes.
const maxSiteName = 80;
const maxDescription = 300;
const maxAlt = 420;

/**
 * Tags of a media page for other sites: canonical address, description, Open Graph (ogp.me), Twitter card, optionally oEmbed.
 * Addresses are absolute. No JSON-LD: in Mastodon it would override the rest.
 */
export function metaTags(record: PublishedMedia, view: Pick<MediaView, 'picture' | 'video'>, site: SiteInfo): Html {
  const page = `${site.publicSite}/${record.id}`;
  const description = descriptionOf(record);
  const hasPicture = view.picture !== 'unsupported';
  const hasVideo = !isPhoto(record.type) && view.video !== 'unsupported';
  return html`<link rel="canonical" href="${page}">
<meta name="description" content="${description}">
<meta property="og:type" content="${hasVideo ? 'video.other' : 'website'}">
<meta property="og:site_name" content="${oneLine(site.name, maxSiteName)}">
<meta property="og:url" content="${page}">
<meta property="og:title" content="${titleOf(record)}">
<meta property="og:description" content="${description}">
${hasPicture ? imageTags(record, page) : undefined}${hasVideo ? videoTags(record, page) : undefined}<meta name="twitter:card" content="${cardOf(hasPicture, hasVideo)}">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#fbfaf8">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#151517">
${site.hasOembedDiscovery ? oembedLinks(record, page, site) : undefined}`;
}

/** The caption if it is longer than the title; otherwise user and date. */
function descriptionOf(record: PublishedMedia): string {
  const caption = captionOf(record, maxDescription);
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
  const alt = alternativeTextOf(record, maxAlt) ?? captionOf(record, maxAlt) ?? bylineOf(record);
  return html`<meta property="og:image" content="${page}/large.jpg">
<meta property="og:image:type" content="${contentTypeOf(large.extension)}">
<meta property="og:image:width" content="${width}">
<meta property="og:image:height" content="${height}">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:image:alt" content="${alt}">
`;
}

function videoTags(record: PublishedMedia, page: string): Html {
  const { width, height } = videoSize(record);
  const video = `${page}/video.mp4`;
  return html`<meta property="og:video" content="${video}">
${video.startsWith('https:') ? html`<meta property="og:video:secure_url" content="${video}">\n` : undefined}<meta property="og:video:type" content="${contentTypeOf(videoRecipe.extension)}">
<meta property="og:video:width" content="${width}">
<meta property="og:video:height" content="${height}">
<meta name="twitter:player" content="${page}/player">
<meta name="twitter:player:width" content="${width}">
<meta name="twitter:player:height" content="${height}">
<meta name="twitter:player:stream" content="${video}">
<meta name="twitter:player:stream:content_type" content="${contentTypeOf(videoRecipe.extension)}">
`;
}

function oembedLinks(record: PublishedMedia, page: string, { publicSite }: SiteInfo): Html {
  const address = `${publicSite}/oembed?url=${encodeURIComponent(page)}`;
  const title = titleOf(record);
  return html`<link rel="alternate" type="application/json+oembed" href="${address}&format=json" title="${title}">
<link rel="alternate" type="text/xml+oembed" href="${address}&format=xml" title="${title}">
`;
}
