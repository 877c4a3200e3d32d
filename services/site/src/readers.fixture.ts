import { patientSignal } from '@echodrop/testkit/patience';
import { readXml } from '@echodrop/testkit/read-xml';
import { metaOf, oembedLinkOf, type ReadPage, readHtml } from './read-html.fixture.ts';

/** How other sites read a page to show a preview: by their documentation or code. */

/** How long a reader waits for a response. */
export const giveUpMs = 5000;

interface Named {
  readonly address: string;
  readonly type?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

export interface Preview {
  readonly title: string;
  readonly description?: string | undefined;
  readonly image?: Named | undefined;
  readonly video?: Named | undefined;
  readonly frame?: Named | undefined;
}

export interface Reader {
  readonly headers: Readonly<Record<string, string>>;
  /** @throws Error with the reason if it shows nothing */
  readonly preview: (page: ReadPage) => Preview | Promise<Preview>;
  /** The minimum size and the maximum bytes of its pictures. */
  readonly image: { readonly width: number; readonly height: number; readonly bytes: number };
}

const MB = 1_000_000;

export const readers = {
  mastodon: {
    headers: { 'User-Agent': 'Mastodon/4.5.0 (http.rb/5.3.1; +https://social.example/)', Accept: 'text/html' },
    preview: async (page) => (await mastodonOembed(page)) ?? mastodonTags(page),
    image: { width: 1, height: 1, bytes: 8 * MB },
  },
  facebook: {
    headers: {
      'User-Agent': 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
      'Accept-Encoding': 'gzip, deflate',
      Range: 'bytes=0-524287',
    },
    preview: facebook,
    image: { width: 200, height: 200, bytes: 8 * MB },
  },
  discord: {
    headers: { 'User-Agent': 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)' },
    preview: discord,
    image: { width: 1, height: 1, bytes: 8 * MB },
  },
  x: {
    headers: { 'User-Agent': 'Twitterbot/1.0' },
    preview: xCard,
    image: { width: 300, height: 157, bytes: 5 * MB },
  },
  slack: {
    headers: { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', Range: 'bytes=0-32768' },
    preview: slack,
    image: { width: 1, height: 1, bytes: 8 * MB },
  },
} satisfies Record<string, Reader>;

/** Fetches a page like a reader, which may take longer on a busy machine. @throws Error if the reader would reject it */
export async function readAs({ headers }: Reader, address: string): Promise<ReadPage> {
  const response = await fetch(address, { headers, signal: patientSignal() });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  if (!response.headers.get('content-type')?.startsWith('text/html')) throw new Error('not HTML');
  return readHtml(await response.text(), address);
}

/** Fetches media of a page like a reader. */
export function fetchNamed({ headers }: Reader, { address }: Named): Promise<Response> {
  const { Range: _, ...others } = headers;
  return fetch(address, { headers: others, redirect: 'manual', signal: patientSignal() });
}

/** An oEmbed response, as far as needed. */
interface OembedResponse {
  readonly version?: string;
  readonly type?: string;
  readonly title: string;
  readonly url?: string;
  readonly html: string;
  readonly width: number;
  readonly height: number;
  readonly thumbnail_url?: string;
}

// app/services/fetch_oembed_service.rb: JSON first, then XML; requires version 1.0 and a type.
async function mastodonOembed(page: ReadPage): Promise<Preview | undefined> {
  const json = oembedLinkOf(page, 'application/json+oembed');
  const address = json ?? oembedLinkOf(page, 'text/xml+oembed');
  if (address === undefined) return undefined;
  const response = await fetch(new URL(address, page.address), { signal: patientSignal() });
  if (response.status !== 200) return undefined;
  const body: unknown = json ? await response.json() : readXml(await response.text()).content;
  const oembed = body as OembedResponse;
  if (oembed.version !== '1.0' || !oembed.type) return undefined;
  const { title, url, width, height, thumbnail_url: thumbnail } = oembed;
  if (oembed.type === 'photo') return url ? { title, image: { address: url, width, height } } : undefined;
  if (oembed.type !== 'video') return undefined;
  const [frame] = readHtml(oembed.html, page.address).elements.filter(({ name }) => name === 'iframe');
  if (!frame) return undefined;
  return {
    title,
    frame: { address: frame.attributes['src'] ?? '', width, height },
    ...(thumbnail && { image: { address: thumbnail } }),
  };
}

// app/lib/link_details_extractor.rb: JSON-LD overrides everything; relative addresses are resolved.
function mastodonTags(page: ReadPage): Preview {
  if (page.elements.some(({ attributes }) => attributes['type'] === 'application/ld+json')) throw new Error('JSON-LD');
  const canonical = page.elements.find(({ attributes }) => attributes['rel'] === 'canonical')?.attributes['href'];
  const address = new URL(canonical ?? metaOf(page, 'og:url') ?? '', page.address);
  if (address.host !== new URL(page.address).host) throw new Error('canonical of another site');
  const title = metaOf(page, 'og:title') ?? page.elements.find(({ name }) => name === 'title')?.text;
  if (!title?.trim()) throw new Error('no title');
  const image = metaOf(page, 'og:image');
  const player = metaOf(page, 'twitter:player');
  return {
    title: title.trim(),
    description: metaOf(page, 'og:description') ?? metaOf(page, 'description'),
    image: image ? { address: new URL(image, page.address).href } : undefined,
    frame: player ? { address: new URL(player, page.address).href, ...sizeOf(page, 'twitter:player') } : undefined,
  };
}

// developers.facebook.com/docs/sharing/webmasters and ogp.me: four required properties; no relative addresses.
function facebook(page: ReadPage): Preview {
  const [title, type, url] = ['og:title', 'og:type', 'og:url'].map((name) => required(page, name));
  if (type !== 'website' && type !== 'video.other') throw new Error(`og:type ${type}`);
  assertAbsolute(url);
  return { title: title ?? '', description: metaOf(page, 'og:description'), ...openGraphMedia(page) };
}

// Undocumented; known behaviour: rejects a long site name, requires six digits in a colour, plays videos with a .mp4 address and a
// picture, but not with a large-picture card.
function discord(page: ReadPage): Preview {
  if (Buffer.byteLength(metaOf(page, 'og:site_name') ?? '') > 253) throw new Error('og:site_name is too long');
  if (!/^#[0-9a-f]{6}$/i.test(required(page, 'theme-color'))) throw new Error('theme-color has not six digits');
  const { image, video } = openGraphMedia(page);
  const isLarge = metaOf(page, 'twitter:card') === 'summary_large_image';
  const plays = video?.type === 'video/mp4' && video.address.endsWith('.mp4') && !isLarge;
  if (video && !plays) throw new Error('the video does not play');
  if (!video && !isLarge) throw new Error('the picture is small');
  return { title: required(page, 'og:title'), description: metaOf(page, 'og:description'), image, video };
}

// developer.x.com/en/docs/twitter-for-websites/cards: its own properties first, then Open Graph.
function xCard(page: ReadPage): Preview {
  const card = required(page, 'twitter:card');
  const title = metaOf(page, 'twitter:title') ?? required(page, 'og:title');
  if (title.length > 70) throw new Error('the title is too long');
  const shown = { title, description: metaOf(page, 'og:description'), image: openGraphMedia(page).image };
  if (!shown.image) throw new Error(`${card} without a picture`);
  if (card !== 'player') return shown;
  const frame = { address: required(page, 'twitter:player'), ...sizeOf(page, 'twitter:player') };
  assertAbsolute(frame.address);
  if (!frame.width || !frame.height) throw new Error('a player without a size');
  const stream = { address: required(page, 'twitter:player:stream') };
  return { ...shown, frame, video: { ...stream, type: required(page, 'twitter:player:stream:content_type') } };
}

// api.slack.com/robots: oEmbed, then tags, as far as they are in the first 32 KB.
async function slack(page: ReadPage): Promise<Preview> {
  const begun = readHtml(Buffer.from(page.html).subarray(0, 32_768).toString(), page.address);
  return (await mastodonOembed(begun)) ?? { title: required(begun, 'og:title'), ...openGraphMedia(begun) };
}

function openGraphMedia(page: ReadPage): Pick<Preview, 'image' | 'video'> {
  const named = (kind: string) => {
    const address = metaOf(page, kind);
    if (address === undefined) return undefined;
    assertAbsolute(address);
    return { address, type: metaOf(page, `${kind}:type`), ...sizeOf(page, kind) };
  };
  return { image: named('og:image'), video: named('og:video') };
}

function sizeOf(page: ReadPage, name: string): Pick<Named, 'width' | 'height'> {
  return { width: Number(metaOf(page, `${name}:width`)), height: Number(metaOf(page, `${name}:height`)) };
}

function required(page: ReadPage, name: string): string {
  const content = metaOf(page, name);
  if (!content?.trim()) throw new Error(`no ${name}`);
  return content;
}

function assertAbsolute(address: string | undefined): void {
  if (!/^https?:\/\/./.test(address ?? '')) throw new Error(`${address} is not absolute`);
}
