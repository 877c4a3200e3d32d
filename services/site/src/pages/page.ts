import type { Response } from 'express';
import type { Site } from '../site.ts';
import { type Html, html } from './html.ts';
import { pagePolicy } from './page-policy.ts';

/** A page: its title, and what stands in its `main`. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** What stands in its head beside what every page has there. */
  readonly head?: Html;
  /** Its Content-Security-Policy, where it is not every page's. */
  readonly policy?: string;
  /** Whether search engines may list it; they may unless said. */
  readonly robots?: Site['robots'];
}

/** Whose site it is, as every page tells. */
export type Owner = Pick<Site, 'name' | 'abuseContact'>;

const usualPolicy = pagePolicy({ framedBy: "'none'" });

/**
 * Sends a page; browsers keep it, but ask each time whether it is still so. One that looks again is not kept: with a page that has not
 * changed a browser would keep its `Refresh` too, for ever.
 */
export function sendPage(response: Response, status: number, page: Page, owner: Owner): void {
  const cacheControl = response.get('Refresh') === undefined ? 'no-cache' : 'no-store';
  response.status(status).set({ 'Cache-Control': cacheControl, 'Content-Security-Policy': page.policy ?? usualPolicy });
  if (page.robots === 'noindex') response.set('X-Robots-Tag', 'noindex');
  response.type('html').send(document(page, owner).toString());
}

function document({ title, body, head, robots }: Page, { name, abuseContact }: Owner): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${robots === 'noindex' ? html`<meta name="robots" content="noindex">\n` : undefined}<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${head}</head>
<body>
<header><a class="site" href="/"><img src="/favicon.svg" width="24" height="24" alt="">${name}</a></header>
<main>
${body}
</main>
<footer><nav aria-label="About this site"><a href="/">About</a> <a href="/documentation">For developers</a>${abuseContact === undefined ? undefined : html` <a href="${abuseContact}">Report abuse</a>`}</nav></footer>
</body>
</html>
`;
}
