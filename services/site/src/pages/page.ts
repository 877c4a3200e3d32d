import type { Response } from 'express';
import { ResponseText } from '../serve/response-text.ts';
import { canSignIn, type Site } from '../site.ts';
import { type Html, html } from './html.ts';

/** A page; `body` is the content of its `main`. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Additional markup of the head. */
  readonly head?: Html;
  /** The Content-Security-Policy if it is not the default. */
  readonly policy?: string;
  /** Whether search engines may index it; the default is yes. */
  readonly robots?: Site['robots'];
  /** For a page whose address has a secret; otherwise browsers keep it, and revalidate. */
  readonly caching?: 'no-store';
}

/** What header and footer of every page show. */
export type SiteFrame = Pick<Site, 'name' | 'abuseContact' | 'upload'>;

/** What a page may do beyond showing pictures, videos and style sheets of this site. */
interface Permissions {
  readonly frameAncestors: "'none'" | '*';
  /** Runs our own scripts. With `connectTo` they may query these sources, and the page shows local files. */
  readonly scripts?: { readonly connectTo?: string };
}

const defaultPolicy = pagePolicy({ frameAncestors: "'none'" });

/** Sends a page that browsers revalidate. One with `Refresh` is not cached: with a 304, a browser would keep reloading forever. */
export function sendPage(response: Response, status: number, page: Page, frame: SiteFrame): void {
  const cacheControl = page.caching ?? (response.get('Refresh') === undefined ? 'no-cache' : 'no-store');
  response
    .status(status)
    .set({ 'Cache-Control': cacheControl, 'Content-Security-Policy': page.policy ?? defaultPolicy });
  if (page.robots === 'noindex') response.set('X-Robots-Tag', 'noindex');
  new ResponseText(document(page, frame).toString()).send(response.type('html'));
}

/** A Content-Security-Policy that allows only our own resources, nothing inline, and by default no scripts. */
export function pagePolicy({ frameAncestors, scripts }: Permissions): string {
  const local = scripts?.connectTo ? ' blob:' : '';
  return [
    "default-src 'none'",
    `img-src 'self'${local}`,
    `media-src 'self'${local}`,
    "style-src 'self'",
    ...(scripts ? ["script-src 'self'"] : []),
    ...(scripts?.connectTo ? [`connect-src ${scripts.connectTo}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors}`,
  ].join('; ');
}

function ownPages(canList: boolean): Html {
  return html` <nav aria-label="Your uploads"><a href="/upload">Upload</a>${canList ? html` <a href="/mine">My uploads</a>` : undefined}</nav>`;
}

function document({ title, body, head, robots }: Page, { name, abuseContact, upload }: SiteFrame): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="application-name" content="${name}">
<title>${title}</title>
${robots === 'noindex' ? html`<meta name="robots" content="noindex">\n` : undefined}<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${head}</head>
<body>
<header><a class="site" href="/"><img src="/favicon.svg" width="24" height="24" alt="">${name}</a>${upload && ownPages(canSignIn(upload))}</header>
<main>
${body}
</main>
<footer><nav aria-label="About this site"><a href="/">About</a> <a href="/documentation">For developers</a>${abuseContact === undefined ? undefined : html` <a href="${abuseContact}">Report abuse</a>`}</nav></footer>
</body>
</html>
`;
}
