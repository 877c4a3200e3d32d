import type { RequestHandler, Response } from 'express';
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
  /** Whether a proxy may cache it for seconds, unless it has `Refresh`. */
  readonly isShared?: boolean;
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

/** A page as it is sent, for one response or many. */
export class BuiltPage {
  readonly #page: Omit<Page, 'title' | 'body' | 'head'>;
  readonly #text: ResponseText;

  constructor(page: Page, frame: SiteFrame) {
    const { title: _title, body: _body, head: _head, ...rest } = page;
    this.#page = rest;
    this.#text = new ResponseText(documentOf(page, frame));
  }

  /** The memory that it may take. */
  get memoryBytes(): number {
    return this.#text.memoryBytes;
  }

  /** Sends the page, which browsers revalidate. One with `Refresh` is not cached: with a 304, a browser would keep reloading forever. */
  send(response: Response, status: number): void {
    const { policy = defaultPolicy, robots, caching, isShared } = this.#page;
    const isReloading = response.get('Refresh') !== undefined;
    const cacheControl = caching ?? (isReloading ? 'no-store' : 'no-cache');
    response.status(status).set({ 'Cache-Control': cacheControl, 'Content-Security-Policy': policy });
    if (robots === 'noindex') response.set('X-Robots-Tag', 'noindex');
    this.#text.send(response.type('html'), isShared === true && !isReloading);
  }
}

/** Serves a page that is built once. */
export function fixedPage(page: Page, frame: SiteFrame): RequestHandler {
  const built = new BuiltPage(page, frame);
  return (_request, response) => built.send(response, 200);
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

function ownPageLinks(canList: boolean): Html {
  return html` <nav aria-label="Your uploads"><a href="/upload">Upload</a>${canList ? html` <a href="/mine">My uploads</a>` : undefined}</nav>`;
}

/** A page with its header and footer, as HTML. */
export function documentOf({ title, body, head, robots }: Page, { name, abuseContact, upload }: SiteFrame): string {
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
<header><a class="site" href="/"><img src="/favicon.svg" width="24" height="24" alt="">${name}</a>${upload && ownPageLinks(canSignIn(upload))}</header>
<main>
${body}
</main>
<footer><nav aria-label="About this site"><a href="/">About</a> <a href="/documentation">For developers</a>${abuseContact === undefined ? undefined : html` <a href="${abuseContact}">Report abuse</a>`}</nav></footer>
</body>
</html>
`.toString();
}
